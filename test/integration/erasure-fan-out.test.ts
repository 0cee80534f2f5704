// A person in a task that fanned out is erased from every table: from what a join was asked for, what branches came to, and their streams.
import { createApiKey } from '@baton/gateway'
import type { AgentContext, AgentResult, JoinHandoff, NextHandoff } from '@baton/sdk'
import { permanent } from '@baton/runtime'
import { findTask, listTaskHandoffs } from '@baton/store'
import { eventually, fetchSigned } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findInDatabase } from '../e2e/search-stores.ts'
import { answer, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

const WAIT_MS = 30_000
const keyOf = (operator: string) =>
  createApiKey({
    scopes: 'handoffs:read+handoffs:cancel+erasures:plan+erasures:approve',
    operator,
  })
const PEOPLE = { ann: keyOf('ann'), bob: keyOf('bob') }

let pipeline: Pipeline
let gateway: ServiceProcess
let forking: () => Partial<AgentResult>
let working: (context: AgentContext) => Partial<AgentResult>

beforeAll(async () => {
  pipeline = await openPipeline('erasure fan-out')
  const forker = recordingAgent('forker', {
    execute: async (context) => answer(context, forking()),
  })
  const worker = recordingAgent('worker', {
    async execute(context) {
      await context.emit({ content: `${context.message.taskDescription} begins` })
      return answer(context, working(context))
    },
  })
  const joiner = recordingAgent('joiner', {
    execute: async (context) => answer(context, { result: context.state['branches'] ?? null }),
  })
  await pipeline.start([forker.agent, worker.agent, joiner.agent])
  gateway = await pipeline.system.start('gateway', {
    BATON_GATEWAY_PORT: '0',
    BATON_API_KEYS: Object.values(PEOPLE)
      .map(({ entry }) => entry)
      .join(','),
  })
})
afterAll(() => pipeline.close())

async function ask(who: keyof typeof PEOPLE, path: string, body: object) {
  const url = /"url":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(gateway.output())?.[1] ?? ''
  const response = await fetchSigned(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${PEOPLE[who].key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await response.json()) as Record<string, unknown>
}

const branch = (text: string, more: Partial<NextHandoff> = {}): NextHandoff => ({
  to: 'worker',
  branch: text.split(' ').at(-1) ?? '',
  taskDescription: text,
  ...more,
})
const join = (text: string, more: Partial<JoinHandoff> = {}): JoinHandoff => ({
  to: 'joiner',
  taskDescription: text,
  ...more,
})

const about = (subject: string) => ({
  dataSubjects: [subject],
  payload: { [`/currentState/${subject}`]: { subject, value: subject } },
})

/** Everything that the task says, says the name of its person. */
async function fanOut(subject: string, result: Partial<AgentResult>): Promise<string> {
  forking = () => ({ result: `forked for ${subject}`, state: { for: subject }, ...result })
  const { taskId } = await pipeline.send('forker', { state: { personalData: about(subject) } })
  return taskId
}

const reaches = (taskId: string, status: string) =>
  eventually(async () => (await findTask(pipeline.pool, taskId))?.status === status || undefined, {
    deadlineMs: WAIT_MS,
    describe: () => `the task is ${status}\n${pipeline.log().slice(-2_000)}`,
  })

const found = async (subject: string) =>
  findInDatabase(pipeline.superuser, { name: 'baton', texts: [subject] })

/** Plans and confirms, once everything of the person is recorded; answers the receipt, or the problem. */
async function confirmed(subject: string) {
  await eventually(
    async () => {
      const [row] = await pipeline.rows<{ left: number }>(
        'select count(*)::int as left from audit_outbox',
      )
      return row?.left === 0 || undefined
    },
    { deadlineMs: WAIT_MS, describe: 'everything is recorded' },
  )
  const { erasureId } = await ask('ann', '/v2/erasures', { subject })
  return ask('bob', `/v2/erasures/${String(erasureId)}/confirm`, { subject })
}

/** What the confirmation came to. */
const erase = async (subject: string) => (await confirmed(subject))['code'] ?? 'erased'

it('leaves nothing of what was joined, nor of what it was joined from', async () => {
  const subject = 'Ada-Joined'
  working = ({ message }) => ({ result: `${message.taskDescription} says ${subject}` })
  const taskId = await fanOut(subject, {
    next: [branch(`for ${subject} left`), branch(`for ${subject} right`, { branch: subject })],
    join: join(`bring ${subject} together`),
  })
  await reaches(taskId, 'COMPLETED')
  expect(await found(subject)).toContain('baton: public.handoff_body.body')
  expect(await erase(subject)).toBe('erased')
  expect(await found(subject)).toEqual([])
})

it('leaves nothing of a fan-out that failed, whose join was never sent', async () => {
  const subject = 'Bea-Failed'
  working = ({ message }) => {
    if (message.taskDescription.endsWith('bad')) throw permanent('BATON_WORKER_CANNOT', 'no')
    return { result: `${message.taskDescription} says ${subject}` }
  }
  const taskId = await fanOut(subject, {
    next: [branch(`for ${subject} good`), branch(`for ${subject} bad`)],
    join: join(`bring ${subject} together`, { onFailure: 'fail' }),
  })
  await reaches(taskId, 'FAILED')
  expect(await erase(subject)).toBe('erased')
  expect(await found(subject)).toEqual([])
})

it('names to the join a person whom only a branch within a branch told of', async () => {
  const subject = 'Cem-Within'
  working = ({ message: { taskDescription: text } }) => {
    if (text === 'wide') return { next: [branch('finds'), branch('other')] }
    if (text === 'finds')
      return { next: [branch('tells')], personalData: about(subject), state: { for: subject } }
    return text === 'tells' ? { result: `it is ${subject}` } : { result: 'nothing' }
  }
  const taskId = await fanOut('somebody', {
    next: [branch('wide'), branch('plain')],
    join: join('bring it together'),
  })
  await reaches(taskId, 'COMPLETED')
  const of = await pipeline.rows<{ agent: string }>(
    `select h.to_agent as agent from handoff_subject s join handoff h on h.id = s.handoff_id
     where h.task_id = $1 and s.subject_lookup = subject_lookup($2) order by h.task_seq`,
    [taskId, subject],
  )
  expect(of.map(({ agent }) => agent)).toContain('joiner')
  expect(await erase(subject)).toBe('erased')
  expect(await found(subject)).toEqual([])
})

it('names to the join a person whom only the last answer of a branch told of', async () => {
  const subject = 'Fay-Answered'
  working = ({ message: { taskDescription: text } }) =>
    text === 'tells' ? { result: `it is ${subject}`, personalData: about(subject) } : {}
  const taskId = await fanOut('somebody', {
    next: [branch('tells'), branch('plain')],
    join: join('bring it together'),
  })
  await reaches(taskId, 'COMPLETED')
  expect(await found(subject)).toContain('baton: public.handoff_body.body')
  expect(await erase(subject)).toBe('erased')
  expect(await found(subject)).toEqual([])
})

it('erases what the last answer says of a person whom no message names', async () => {
  const subject = 'Eve-Answered'
  forking = () => ({ result: `it is ${subject}`, personalData: about(subject), next: [] })
  const { taskId } = await pipeline.send('forker')
  await reaches(taskId, 'COMPLETED')
  expect(await found(subject)).toContain('baton: public.task.result')
  // What it answered, and what the task came to.
  expect(await confirmed(subject)).toMatchObject({
    segments: { erased: 2, missing: 0, mismatch: 0 },
  })
  expect(await found(subject)).toEqual([])
})

it('waits for a join that waits for a person: it would send again what is erased', async () => {
  const subject = 'Dag-Waiting'
  working = ({ message }) => {
    if (message.taskDescription.endsWith('bad')) throw permanent('BATON_WORKER_CANNOT', 'no')
    return { result: `${message.taskDescription} says ${subject}` }
  }
  const taskId = await fanOut(subject, {
    next: [branch(`for ${subject} good`), branch(`for ${subject} bad`)],
    join: join(`bring ${subject} together`),
  })
  await eventually(
    async () =>
      (await listTaskHandoffs(pipeline.pool, taskId)).some(
        ({ state }) => state === 'ROLLED_BACK',
      ) || undefined,
    { deadlineMs: WAIT_MS, describe: 'the bad branch is rolled back' },
  )
  expect(await erase(subject)).toBe('BATON_ERASURE_TASK_OPEN')
  await ask('ann', `/v2/tasks/${taskId}/cancel`, {})
  await reaches(taskId, 'CANCELED')
  expect(await erase(subject)).toBe('erased')
  expect(await found(subject)).toEqual([])
})
