-- Creates VPCs with one subnet each and unique labels, in all regions in turn.
--
-- A create counts the VPCs of its region for the quota. In a single region, the run would measure an account above
-- the default quota. With tokens, the accounts are used in turn, too.

dofile("result.lua")

not_200 = 0

local regions = {}
local headers = {}
local count = 0
local body = '{"label":"bench%s-%d-%d","region":"%s","subnets":[{"label":"first","ipv4":"10.0.0.0/24"}]}'

local from = ""

-- The arguments after `--` are the regions, tokens as token=…, and a prefix of labels as from=… for concurrent runs.
function init(args)
  for _, argument in ipairs(args) do
    local token = argument:match("^token=(.*)")
    from = argument:match("^from=(.*)") or from
    if token then
      table.insert(headers, { ["Authorization"] = "Bearer " .. token, ["Content-Type"] = "application/json" })
    elseif not argument:match("^from=") then
      table.insert(regions, argument)
    end
  end
end

function request()
  count = count + 1
  local accounts = math.max(#headers, 1)
  local region = regions[math.floor(count / accounts) % #regions + 1]
  return wrk.format("POST", nil, headers[count % accounts + 1], string.format(body, from, number, count, region))
end

function response(status)
  if status ~= 200 then
    not_200 = not_200 + 1
  end
end
