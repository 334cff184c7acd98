-- Sends a request of a random tenant. The arguments after `--` are a file with a line of token, VPC and ticket for each
-- tenant, the method, the path, and the body. In the path and the body, VPC and TICKET stand for the IDs of the tenant,
-- and COUNT for the number of the request.

dofile("result.lua")

not_200 = 0

local tenants = {}
local method, path, body
local count = 0

function init(args)
  for line in io.lines(args[1]) do
    local token, vpc, ticket = line:match("^(%S+) (%S+) (%S+)$")
    local headers = { ["Authorization"] = "Bearer " .. token, ["Content-Type"] = "application/json" }
    table.insert(tenants, { headers = headers, VPC = vpc, TICKET = ticket })
  end
  method, path, body = args[2], args[3], args[4]
  -- Labels of a later run must differ.
  math.randomseed(os.time())
  count = math.random(1000000) * 1000000
end

local function filled(text, tenant)
  return text and (text:gsub("VPC", tenant.VPC):gsub("TICKET", tenant.TICKET):gsub("COUNT", string.format("%d", count)))
end

function request()
  count = count + 1
  local tenant = tenants[math.random(#tenants)]
  return wrk.format(method, filled(path, tenant), tenant.headers, filled(body, tenant))
end

function response(status)
  if status ~= 200 then
    not_200 = not_200 + 1
  end
end
