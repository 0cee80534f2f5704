// The Python client says which gateway does not answer, and what an agent raised.
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

const CLIENT = new URL('../../../../clients/python', import.meta.url).pathname

/** Nothing listens on port 9 of this machine. */
function python(script: string) {
  const client = 'import baton\nb = baton.Baton("http://127.0.0.1:9", "bk_x_y")\n'
  const env = { ...process.env, PYTHONPATH: CLIENT, PYTHONDONTWRITEBYTECODE: '1' }
  return spawnSync('python3', ['-c', client + script], { env, encoding: 'utf8' })
}

const hasPython = spawnSync('python3', ['--version']).status === 0

test.runIf(hasPython)('a gateway that is away is named, with what to do', () => {
  const { stdout } = python(`
baton.TRIES_MAX = 1
try:
    b.send("some-agent", {}, from_agent="sender")
except OSError as error:
    print(error)`)
  expect(stdout).toMatch(
    /^BATON_GATEWAY_UNAVAILABLE: http:\/\/127\.0\.0\.1:9 did not answer \(.+\)\. Check BATON_GATEWAY_URL/,
  )
})

test.runIf(hasPython)(
  'what an agent raises stands in its own log, with its place and without its words',
  () => {
    const { stdout, stderr } = python(`
b.settle = lambda execution, outcome: print(outcome)
b._beat = lambda execution, done: None
names = ["fencing_token", "task_id", "attempt", "from_agent", "idempotency_key", "lease_ms", "deadline", "traceparent", "tracestate", "context", "message"]
b.execute(baton.Execution(handoff_id="7c1f", **{name: None for name in names}), lambda execution: int("text of the work"))`)
    expect(stdout).toContain('AGENT_RAISED')
    expect(stderr).toMatch(/^handoff 7c1f: the agent raised ValueError at <string>, line \d+\n$/)
  },
)
