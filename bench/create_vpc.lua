-- Creates VPCs of one subnet each, no two with the same label, in all regions by turns.
--
-- By turns because a create counts the VPCs of its region for the quota: in a single region the
-- run would measure an account larger than the default quota allows. Given tokens, it does so for their
-- accounts by turns.

dofile("result.lua")

not_200 = 0

local regions = {}
local headers = {}
local made = 0
local body = '{"label":"bench%s-%d-%d","region":"%s","subnets":[{"label":"first","ipv4":"10.0.0.0/24"}]}'

local from = ""

-- The arguments after `--` are the regions, tokens as token=…, and from=… where others create too.
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
  made = made + 1
  local accounts = math.max(#headers, 1)
  local region = regions[math.floor(made / accounts) % #regions + 1]
  return wrk.format("POST", nil, headers[made % accounts + 1], string.format(body, from, number, made, region))
end

function response(status)
  if status ~= 200 then
    not_200 = not_200 + 1
  end
end
