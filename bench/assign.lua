-- Adds an interface to the config of an instance, and removes it. It gets the lowest free address of subnet 1. Every
-- request is a PUT of the config of one of the instances 65 to 128.

dofile("result.lua")

not_200 = 0

local instances, at = 64, 0
local bodies = { [0] = '{"interfaces":[{"purpose":"vpc","subnet_id":1}]}', '{"interfaces":[]}' }

function request()
  local id = 65 + at % instances
  local body = bodies[math.floor(at / instances) % 2]
  at = at + 1
  return wrk.format("PUT", string.format("/v4/linode/instances/%d/configs/%d", id, id), nil, body)
end

function response(status)
  if status ~= 200 then
    not_200 = not_200 + 1
  end
end
