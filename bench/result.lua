-- Prints the result line of a run: name=number pairs.

local threads = {}

function setup(thread)
  table.insert(threads, thread)
  thread:set("number", #threads)
end

function done(summary)
  local errors = summary.errors
  -- wrk counts only statuses above 399. A script that reads each response counts all statuses but 200.
  local not_200 = 0
  for _, thread in ipairs(threads) do
    not_200 = not_200 + (thread:get("not_200") or 0)
  end
  io.write(string.format(
    "RESULT requests=%d micros=%d not_200=%d broken=%d\n",
    summary.requests, summary.duration, math.max(not_200, errors.status),
    errors.connect + errors.read + errors.write + errors.timeout
  ))
end
