// Who writes to Postgres, and holds no signing key, has nobody sign a join: what was changed is not joined, and is told.
import type { AgentContext, AgentResult } from '@baton/sdk'
import { eventually } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { answer, gate, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

let pipeline: Pipeline
let working: (context: AgentContext) => Promise<Partial<AgentResult>>
const joiner = recordingAgent('joiner')
const nameOf = ({ message }: AgentContext) => message.taskDescription

beforeAll(async () => {
  pipeline = await openPipeline('branches forged')
  const worker = recordingAgent('worker', {
    execute: async (context) => answer(context, await working(context)),
  })
  await pipeline.start([worker.agent, joiner.agent])
})
afterAll(() => pipeline.close())

const join = { to: 'joiner', taskDescription: 'bring it together' }
const branches = (...names: readonly string[]) =>
  names.map((name) => ({ to: 'worker', branch: name, taskDescription: name }))

/** Fans out into a, b, and one that waits; tampers once a and b have ended, and then lets the third end. */
async function tampered(statement: string): Promise<string> {
  const last = gate()
  working = async (context) => {
    const name = nameOf(context)
    if (name === 'all') return { next: branches('a', 'b', 'last'), join }
    if (name === 'last') await last.opened
    return { result: `of ${name}` }
  }
  const { taskId } = await pipeline.send('worker', { state: { taskDescription: 'all' } })
  await eventually(
    async () => {
      const text = `select from branch where task_id = $1 and outcome = 'COMPLETED'`
      return (await pipeline.rows(text, [taskId])).length === 2 || undefined
    },
    { deadlineMs: 15_000, describe: () => 'two branches have ended' },
  )
  await pipeline.rows(statement, [taskId])
  last.open()
  return taskId
}

const OTHER = `select id from fan_out where task_id <> $1 and state = 'JOINED'`

const ATTACKS: Record<string, string> = {
  'the request': `update fan_out set join_request = replace(join_request, 'bring it', 'send me') where task_id = $1`,
  'a request that is no JSON': `update fan_out set join_request = 'x' where task_id = $1`,
  'whom it waits for': `update fan_out set on_failure = 'skip' where task_id = $1`,
  'a result': `update branch set result = '"mine"' where task_id = $1 and name = 'a'`,
  'a result of nobody': `update branch set result = '"mine"', mac = null where task_id = $1 and name = 'a'`,
  'the results of two branches': `update branch b set result = o.result, mac = o.mac, last_handoff_id = o.last_handoff_id
    from branch o where b.task_id = $1 and o.task_id = $1 and b.name in ('a', 'b') and o.name in ('a', 'b') and o.name <> b.name`,
  'the names of two branches': `update branch set name = case name when 'a' then 'b' else 'a' end
    where task_id = $1 and name in ('a', 'b')`,
  'a result of another fan-out': `update branch b set result = o.result, mac = o.mac, last_handoff_id = o.last_handoff_id
    from branch o where b.task_id = $1 and b.name = 'a' and o.name = 'a' and o.fan_out_id in (${OTHER})`,
  'an outcome': `update branch set outcome = 'FAILED', result = '"mine"' where task_id = $1 and name = 'a'`,
  'the message of a branch': `update handoff_body set body = convert_to(replace(convert_from(body, 'UTF8'), '"taskDescription":"a"', '"taskDescription":"x"'), 'UTF8')
    where handoff_id in (select last_handoff_id from branch where task_id = $1 and name = 'a')`,
  'whom an answer names, into what nobody can read': `update execution set named = '["x' where handoff_id in
    (select last_handoff_id from branch where task_id = $1 and name = 'a')`,
  'what has no authenticator': `update fan_out set mac = null where task_id = $1`,
}

it('joins what nobody changed', async () => {
  const taskId = await tampered('select $1::uuid')
  expect(await pipeline.taskEnds(taskId)).toMatchObject({ status: 'COMPLETED' })
})

it.each(Object.entries(ATTACKS))('joins nothing where somebody changed %s', async (_, attack) => {
  const seen = joiner.executed.length
  const taskId = await tampered(attack)
  expect(await pipeline.taskEnds(taskId)).toMatchObject({ status: 'FAILED' })
  expect(joiner.executed).toHaveLength(seen)
  // The sweeper counts occurrences into alerts, and takes them away.
  const reasons = `select kind, reason from alert_occurrence where task_id = $1
    union select kind, reason from alert where handoff_ids && array(select id from handoff where task_id = $1)`
  expect(await pipeline.rows(reasons, [taskId])).toEqual([
    { kind: 'handoff.branches_failed', reason: 'BATON_JOIN_FORGED' },
  ])
})
