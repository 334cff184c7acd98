-- What the runner reads of a run: one line of name=number words at its end.

local threads = {}

function setup(thread)
  table.insert(threads, thread)
  thread:set("number", #threads)
end

function done(summary)
  local errors = summary.errors
  -- wrk itself counts only what is above 399; a script that looks at each answer counts them all.
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
