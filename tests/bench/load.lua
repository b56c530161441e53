-- Scores, or batches of them, each under a session id of its own: the same script and number send the same bytes.
-- Arguments: key, path, interactions in a request, operators, prefix of the session ids.

local threads = 0
function setup(thread)
  thread:set("thread_number", threads)
  threads = threads + 1
end

local key, path, size, operators, prefix
local sent = 0

function init(arguments)
  key, path, size, operators, prefix = arguments[1], arguments[2], tonumber(arguments[3]), tonumber(arguments[4]), arguments[5]
  headers = { ["Content-Type"] = "application/json", ["X-API-Key"] = key }
end

local function interaction(number)
  return string.format(
    '"ai_recommendation_presented":true,"time_to_decision_ms":%d,"decision":"%s","modification_extent":0,"ai_available":true,"scenario_type":"standard","outcome_correct":%s,"hover_events":%d,"scroll_depth":0.8,"alternative_views_checked":1',
    3000 + number % 20000, number % 4 == 0 and "rejected" or "accepted", number % 5 ~= 0 and "true" or "false", number % 9)
end

function request()
  sent = sent + 1
  local number = sent * 7919 + thread_number * 104729
  local operator = number % operators
  local body
  if size == 1 then
    body = string.format('{"session_id":"%s-%d-%d","operator_id":"operator-%d","domain":"financial","interaction":{%s}}',
      prefix, thread_number, sent, operator, interaction(number))
  else
    local items = {}
    for item = 1, size do
      items[item] = string.format('{"session_id":"%s-%d-%d-%d",%s}', prefix, thread_number, sent, item, interaction(number + item))
    end
    body = string.format('{"operator_id":"operator-%d","domain":"financial","interactions":[%s]}', operator, table.concat(items, ","))
  end
  return wrk.format("POST", path, headers, body)
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'FIGURES {"requests":%d,"microseconds":%d,"refused":%d,"broken":%d,"p50":%d,"p99":%d}\n',
    summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout, latency:percentile(50), latency:percentile(99)))
end
