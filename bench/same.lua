-- Repeats one request. The arguments after `--` are its method, its body, and headers as Name=value.

dofile("result.lua")

not_200 = 0

local message

function init(args)
  for at = 3, #args do
    local name, value = args[at]:match("^([%w-]+)=(.*)$")
    wrk.headers[name] = value
  end
  message = wrk.format(args[1], nil, nil, args[2])
end

function request()
  return message
end

function response(status)
  if status ~= 200 then
    not_200 = not_200 + 1
  end
end
