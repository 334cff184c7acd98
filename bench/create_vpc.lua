-- Creates VPCs of one subnet each, no two with the same label, in all regions by turns.
--
-- By turns because a create counts the VPCs of its region for the quota: in a single region the
-- run would measure an account larger than the default quota allows.

dofile("result.lua")

not_200 = 0

local regions = {}
local made = 0
local body = '{"label":"bench-%d-%d","region":"%s","subnets":[{"label":"first","ipv4":"10.0.0.0/24"}]}'

-- The arguments after `--` are the regions.
function init(args)
  for _, region in ipairs(args) do
    table.insert(regions, region)
  end
end

function request()
  made = made + 1
  local region = regions[made % #regions + 1]
  return wrk.format("POST", nil, nil, string.format(body, number, made, region))
end

function response(status)
  if status ~= 200 then
    not_200 = not_200 + 1
  end
end
