-- Routes a part of subnet 2 to the interface of one of the instances 1 to 64, and removes the route. The argument is the
-- family of the part: 4 for an address, 6 for a /64.

dofile("result.lua")

not_200 = 0

local instances, at, family = 64, 0, nil

function init(arguments)
  family = arguments[1]
end

local function body(number, is_routed)
  if family == "4" then
    local range = is_routed and string.format('"172.31.0.%d/32"', number) or ""
    return string.format('{"ip_ranges":[%s]}', range)
  end
  local range = is_routed and string.format('{"range":"fd67:6172:0:%x::/64"}', 4095 - number) or ""
  return string.format('{"ipv6":{"ranges":[%s]}}', range)
end

function request()
  local id = 1 + at % instances
  local is_routed = math.floor(at / instances) % 2 == 0
  at = at + 1
  local path = string.format("/v4/linode/instances/%d/configs/%d/interfaces/%d", id, id, id)
  return wrk.format("PUT", path, nil, body(id, is_routed))
end

function response(status)
  if status ~= 200 then
    not_200 = not_200 + 1
  end
end
