-- Attaches the same 5 MiB to a ticket repeatedly.

dofile("result.lua")

not_200 = 0

local message

function init()
  local file = string.rep("0123456789abcdef", 5 * 1024 * 1024 / 16)
  local body = "--part\r\n"
    .. 'Content-Disposition: form-data; name="file"; filename="trace.txt"\r\n'
    .. "Content-Type: text/plain\r\n\r\n"
    .. file
    .. "\r\n--part--\r\n"
  wrk.headers["Content-Type"] = "multipart/form-data; boundary=part"
  message = wrk.format("POST", nil, nil, body)
end

function request()
  return message
end

function response(status)
  if status ~= 200 then
    not_200 = not_200 + 1
  end
end
