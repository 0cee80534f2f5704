// MCP on a whole system, over HTTP and over standard input and output: people release a dead letter, and its task is traced and proven.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { recordingAgent } from './pipeline-fixture.ts'
import { connect, REVISIONS } from './mcp-fixture.ts'
import type { Called } from './mcp-fixture.ts'
import { connectOverStdio, MAIN } from './mcp-stdio-fixture.ts'
import type { Person } from './mcp-stdio-fixture.ts'
import { openReview } from './review-fixture.ts'
import type { ReviewSystem } from './review-fixture.ts'

let review: ReviewSystem
const { agent, executed } = recordingAgent('reviewed')

beforeAll(async () => {
  review = await openReview('mcp')
  await review.pipeline.start([agent])
})
afterAll(() => review.close())

const codeOf = (called: Called): unknown =>
  (called._meta?.['baton/problem'] as { code?: unknown } | undefined)?.code

it.each(REVISIONS)(
  'two people release a dead letter over stdio with %s, each as they confirm',
  async (revision) => {
    const { handoffId, taskId } = await review.quarantine('reviewed')
    const questions: string[] = []
    const agrees: Person = (question) => {
      questions.push(question)
      return { action: 'accept', content: { sign: true } }
    }
    const ann = await connectOverStdio(revision, {
      environment: review.environmentOf('ann'),
      person: agrees,
    })
    const { tools } = await ann.listTools()
    expect(tools.map(({ name }) => name)).toContain('release_dead_letter')
    expect(tools.map(({ name }) => name)).not.toContain('service_levels')
    const listed = await ann.call('list_dead_letters')
    const { deadLetters } = listed.structuredContent as { deadLetters: readonly object[] }
    expect(deadLetters).toContainEqual(expect.objectContaining({ handoffId }))
    const letter = await ann.call('get_dead_letter', { handoffId })
    expect(letter.structuredContent).toMatchObject({ release: { needed: 2 } })
    expect(JSON.stringify(letter)).not.toContain('maintenance mode')
    const first = await ann.call('release_dead_letter', { handoffId })
    expect(first).toMatchObject({
      structuredContent: { outcome: 'waiting', reviewers: ['ann'] },
    })
    expect(questions).toEqual([
      expect.stringMatching(`As ann: release the dead letter ${handoffId}`),
    ])
    await ann.close()

    const bob = await connectOverStdio(revision, {
      environment: review.environmentOf('bob'),
      person: agrees,
    })
    const second = await bob.call('release_dead_letter', { handoffId })
    expect(second).toMatchObject({ structuredContent: { outcome: 'decided' } })
    await review.pipeline.reaches(handoffId, 'COMPLETED')
    expect(executed.filter((one) => one.handoffId === handoffId)).toHaveLength(1)
    await review.events(taskId, 4)
    const traced = await bob.call('trace_task', { taskId })
    expect(traced.structuredContent).toMatchObject({
      verified: true,
      task: { status: 'COMPLETED' },
    })
    const proven = await bob.call('verify_task', { taskId })
    expect(proven.structuredContent).toMatchObject({ verified: true, unrecorded: [], gaps: [] })
    const whole = await bob.readResource(`baton://tasks/${taskId}/trace`)
    expect(JSON.parse(whole.contents[0]?.text ?? '')).toMatchObject({ audit: { verified: true } })
    await bob.close()
  },
)

it.each(REVISIONS)('signs nothing that a person did not confirm, with %s', async (revision) => {
  const { handoffId } = await review.quarantine('reviewed')
  const environment = review.environmentOf('ann')
  for (const [person, code] of [
    [() => ({ action: 'decline' }), 'BATON_NOT_CONFIRMED'],
    [() => ({ action: 'accept', content: { sign: false } }), 'BATON_NOT_CONFIRMED'],
    [undefined, 'BATON_CONFIRMATION_IMPOSSIBLE'],
  ] as const satisfies readonly (readonly [Person | undefined, string])[]) {
    const client = await connectOverStdio(revision, { environment, ...(person && { person }) })
    const refused = await client.call('discard_dead_letter', { handoffId })
    expect([refused.isError, codeOf(refused)]).toEqual([true, code])
    await client.close()
  }
})

it('signs with nobody else’s key', async () => {
  const { handoffId } = await review.quarantine('reviewed')
  const environment = {
    ...review.environmentOf('ann'),
    BATON_PERSON_KEY: review.environmentOf('bob').BATON_PERSON_KEY,
  }
  const person: Person = () => ({ action: 'accept', content: { sign: true } })
  const client = await connectOverStdio('2026-07-28', { environment, person })
  const refused = await client.call('discard_dead_letter', { handoffId })
  expect(refused).toMatchObject({ isError: true })
  await client.close()
})

it('judges the whole log for who watches the installation', async () => {
  const { BATON_GATEWAY_URL: url, BATON_API_KEY: key } = review.environmentOf('eve')
  const client = await connect('2026-07-28', url, key)
  const judged = await client.call('verify_log')
  expect(judged.structuredContent).toMatchObject({
    verdict: expect.stringMatching(/^(verified|incomplete)$/),
    records: expect.any(Number),
    findings: expect.any(Array),
  })
  const levels = await client.call('service_levels')
  expect(levels.isError).toBeFalsy()
  await client.close()
})

it('ends when standard input ends, and writes nothing but messages to standard output', async () => {
  const child = spawn(process.execPath, [MAIN, 'mcp'], {
    env: { ...process.env, ...review.environmentOf('ann') },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  let written = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (written += text))
  child.stdin.end()
  const [exitCode] = await once(child, 'exit')
  expect([exitCode, written]).toEqual([0, ''])
})
