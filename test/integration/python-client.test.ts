// The Python client and its examples, as somebody runs them who has only that one file.
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '@baton/testkit'
import { openPullWorld, pullKeys } from './pull-fixture.ts'
import type { PullWorld } from './pull-fixture.ts'

const CLIENT = join(import.meta.dirname, '..', '..', 'clients', 'python')
const ENV = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: CLIENT }

const versionOf = (): string | undefined => {
  try {
    return execFileSync('python3', ['--version'], { encoding: 'utf8' })
  } catch {
    return undefined
  }
}

/** Runs a program against the client; answers what it prints. */
const python = (program: string, ...args: readonly string[]): string =>
  execFileSync('python3', ['-c', program, ...args], { encoding: 'utf8', env: ENV, timeout: 60_000 })

describe.skipIf(versionOf() === undefined)('the Python client (needs python3)', () => {
  let world: PullWorld
  const running: ChildProcess[] = []
  beforeAll(async () => {
    world = await openPullWorld('python client')
  })
  afterAll(async () => {
    for (const child of running) child.kill('SIGKILL')
    await world.close()
  })

  const example = (name: string, ...args: readonly string[]) => {
    const child = spawn('python3', [join(CLIENT, 'examples', name), ...args], { env: ENV })
    running.push(child)
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    return { child, output: () => output }
  }

  it('emits chunks and follows them', async () => {
    const program = `
import sys, threading
from baton import Baton, complete
url, agent_key, reader_key = sys.argv[1:]
agent, reader = Baton(url, agent_key), Baton(url, reader_key)
handoff_id = reader.send("py-stream", {}).handoff_id
[execution] = agent.claim("py-stream", "1.0.0")
assert agent.emit(execution, 1, "one", {"two": 2}) == 2
seen = []
following = threading.Thread(target=lambda: seen.extend(reader.chunks(handoff_id)))
following.start()
assert agent.emit(execution, 2, {"two": 2}, "three") == 3
agent.settle(execution, complete("done", chunks=3))
following.join()
print(*[(chunk["seq"], chunk["content"]) for chunk in seen], reader.handoff(handoff_id)["state"])
`
    expect(python(program, world.url(), pullKeys.puller.key, pullKeys.people.key)).toBe(
      `(1, 'one') (2, {'two': 2}) (3, 'three') COMPLETED\n`,
    )
  })

  it('settles with all that an answer takes: branches and their join, people, turns, tools, a model', async () => {
    const program = `
import sys
from baton import Baton, complete, partial
url, agent_key, reader_key = sys.argv[1:]
agent, reader = Baton(url, agent_key), Baton(url, reader_key)
first = reader.send("py-fork", {})
[execution] = agent.claim("py-fork", "1.0.0")
agent.settle(execution, complete(
    "forked", cost_usd=0.001, tokens=(5, 1), model="some-model",
    conversation=[{"role": "assistant", "content": "I ask two."}],
    tool_calls=[{"tool": "search", "calledAt": "2026-11-23T00:00:00Z", "inputHash": "sha256:" + "0" * 64}],
    personal_data={"dataSubjects": ["s1"]},
    next=[{"to": "py-left", "taskDescription": "left"}, {"to": "py-right", "taskDescription": "right"}],
    join={"to": "py-join", "taskDescription": "both"}))
[left] = agent.claim("py-left", "1.0.0")
agent.settle(left, partial([{"subtaskId": "more", "description": "more"}], "half", personal_data={"dataSubjects": ["s2"]}))
[left] = agent.claim("py-left", "1.0.0")
agent.settle(left, complete("whole"))
[right] = agent.claim("py-right", "1.0.0")
agent.settle(right, complete("right"))
joins = []
while not joins:
    joins = agent.claim("py-join", "1.0.0")
message = joins[0].message
agent.settle(joins[0], complete("joined"))
print(sorted(message["dataSubjects"]), reader.handoff(joins[0].handoff_id)["state"])
`
    expect(python(program, world.url(), pullKeys.puller.key, pullKeys.people.key)).toBe(
      `['s1', 's2'] COMPLETED\n`,
    )
  })

  it('runs the examples: one sends, the other executes', async () => {
    const worker = example('worker.py', world.url(), pullKeys.puller.key)
    const sent = example('send.py', world.url(), pullKeys.people.key, 'four words are here')
    await eventually(async () => sent.output().includes("COMPLETED {'words': 4}"), {
      deadlineMs: 30_000,
      describe: () => `the answer\n${sent.output()}\n${worker.output()}`,
    })
    await eventually(async () => worker.output().includes('COMPLETED'), {
      deadlineMs: 10_000,
      describe: () => `the worker to say what it settled\n${worker.output()}`,
    })
    expect(sent.output()).toContain('durable as')
    worker.child.kill('SIGKILL')
  })

  it('sends once however often it asks, and says what was refused', () => {
    const printed = python(
      `import json, sys; from baton import *
b = Baton(sys.argv[1], sys.argv[2])
one, two = (b.send("nobody", {"text": "a"}, task_id="5d0f2c8e-7d3c-4f0a-9d53-0a3f7a0a1c11", idempotency_key="k") for _ in range(2))
try: b.send("nobody", {"text": "a"}, budget_usd=-1)
except BatonError as error: refused = [error.status, error.code, [e["pointer"] for e in error.errors]]
try: b.claim("nobody", "1.0.0")
except BatonError as error: forbidden = error.code
print(json.dumps([one.handoff_id == two.handoff_id, one.repeated, two.repeated, refused, forbidden]))`,
      world.url(),
      pullKeys.people.key,
    )
    expect(JSON.parse(printed)).toEqual([
      true,
      false,
      true,
      [422, 'BATON_HANDOFF_INVALID', ['/agentState/cost/budgetRemainingUSD']],
      'BATON_SCOPE_MISSING',
    ])
  })

  it('retries what failed, tells of a cancellation, and settles each once', async () => {
    const flaky = await world.send('python-flaky')
    const slow = await world.send('python-slow')
    const program = spawn(
      'python3',
      [
        '-c',
        `import sys, threading, time; from baton import *
b = Baton(sys.argv[1], sys.argv[2])
def flaky(e):
    if e.message["remainingSubtasks"]: return complete(2)
    if e.attempt == 1: raise ValueError("text of the work")
    b.emit(e, 1, "a part")
    return partial([{"subtaskId": "rest", "description": "the rest"}], 1, chunks=1)
for _ in range(3):
    for e in b.claim("python-flaky", "1.0.0"): print("flaky", e.attempt, b.execute(e, flaky).state, flush=True)
def slow(e):
    print("slow", flush=True)
    while True: e.stopped.wait(0.1); e.check()
for e in b.claim("python-slow", "1.0.0"):
    e.lease_ms = 300
    print("stopped", b.execute(e, slow), flush=True)`,
        world.url(),
        pullKeys.puller.key,
      ],
      { env: ENV },
    )
    running.push(program)
    let output = ''
    for (const stream of [program.stdout, program.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    await eventually(async () => output.includes('slow'), {
      deadlineMs: 60_000,
      describe: () => `three attempts and a start\n${output}`,
    })
    expect(output).toContain('flaky 1 QUEUED\nflaky 2 PARTIAL\nflaky 1 COMPLETED')
    expect(output).not.toContain('text of the work')
    expect((await world.reaches(flaky.handoffId, 'PARTIAL')).result).toBe(1)
    await world.post(
      `/v2/handoffs/${slow.handoffId}/cancel`,
      { graceMs: 5_000 },
      { key: pullKeys.people.key },
    )
    await eventually(async () => output.includes('stopped'), {
      deadlineMs: 20_000,
      describe: () => `the execution to stop\n${output}`,
    })
    await world.reaches(slow.handoffId, 'CANCELED')
  })

  it('fails what it cannot settle, and goes on', async () => {
    const kinds = ['set', 'large', 'cost', 'fine']
    const sent = []
    for (const kind of kinds) sent.push(await world.send(`python-odd-${kind}`))
    const printed = python(
      `import sys; from baton import *
b = Baton(sys.argv[1], sys.argv[2])
made = {"set": lambda: complete({1}), "large": lambda: complete("x" * 1_100_000), "cost": lambda: complete(1, cost_usd=-1), "fine": lambda: complete(1)}
for kind in made:
    for e in b.claim("python-odd-" + kind, "1.0.0"): print(kind, b.execute(e, lambda e: made[kind]()).settled)`,
      world.url(),
      pullKeys.puller.key,
    )
    expect(printed).toBe('set True\nlarge True\ncost True\nfine True\n')
    await world.reaches(sent[3]?.handoffId ?? '', 'COMPLETED')
    const { reason } = await world.reaches(sent[0]?.handoffId ?? '', 'ROLLED_BACK')
    expect(reason).toBe('RESULT_REFUSED')
  })

  it('believes a push only from whoever has the secret, and not for ever', () => {
    const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
    const body = '{"a":1}'
    const signed = createHmac('sha256', Buffer.alloc(32, 9))
      .update(`msg_1.1700000000.${body}`)
      .digest('base64')
    const check = (changes: object) =>
      python(
        `import json, sys; from baton import *
given = json.loads(sys.argv[1])
try: print(json.dumps(verify_push(given["secrets"], given["headers"], given["body"].encode(), now=given["now"])))
except PushRefused: print("refused")`,
        JSON.stringify({
          secrets: [`whsec_${Buffer.alloc(32, 1).toString('base64')}`, secret],
          headers: {
            'Webhook-Id': 'msg_1',
            'Webhook-Timestamp': '1700000000',
            'Webhook-Signature': `v1,AAAA v1,${signed}`,
          },
          body,
          now: 1_700_000_299,
          ...changes,
        }),
      ).trim()
    expect(check({})).toBe('{"a": 1}')
    expect(() => check({ secrets: 'whsec_' })).toThrow('a push secret has at least 24 bytes')
    expect(check({ body: '{"a":2}' })).toBe('refused')
    expect(check({ now: 1_700_000_301 })).toBe('refused')
    expect(check({ headers: {} })).toBe('refused')
    expect(check({ secrets: [`whsec_${Buffer.alloc(32, 1).toString('base64')}`] })).toBe('refused')
  })
})
