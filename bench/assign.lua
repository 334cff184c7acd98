-- Adds configs to one instance, each with an interface that gets any free address of subnet 1.

dofile("result.lua")

not_200 = 0

local body = '{"label":"bench","devices":{},"interfaces":[{"purpose":"vpc","subnet_id":1}]}'

function request()
  return wrk.format("POST", nil, nil, body)
end

function response(status)
  if status ~= 200 then
    not_200 = not_200 + 1
  end
end
