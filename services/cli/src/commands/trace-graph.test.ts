// What a person sees of a task that branched: every handoff once, in its line, and the join after all of its branches.
import { expect, it } from 'vitest'
import { graphLines } from './trace-graph.ts'

type Told = Parameters<typeof graphLines>[0][number]

let at = 0
const record = (id: string, parent: string | null, changes: Partial<Told> = {}): Told => ({
  handoffId: id,
  parentHandoffId: parent,
  fromAgent: { agentId: parent ?? 'sender', agentVersion: '1.0.0', executionId: 'e' },
  toAgent: { agentType: id, agentVersion: null },
  event: 'EXECUTION_COMPLETED',
  cost: { spentMicroUSD: 1_000, remainingMicroUSD: 0, promptTokens: 0, completionTokens: 0 },
  recordedAt: new Date(Date.UTC(2026, 0, 1) + 100 * (at += 1)).toISOString(),
  ...changes,
})
const drawn = (records: readonly Told[]) =>
  graphLines(records).map((line) =>
    line.replace(/ {2}[A-Z_]+ \+.*/, '').replace(/\w+ (?=\w+ → )/, ''),
  )

it('says nothing of a line of handoffs', () => {
  expect(graphLines([record('a', null), record('b', 'a'), record('b', 'a')])).toEqual([])
})

it('draws branches beside each other, what goes on in each, and the join after them', () => {
  const joins = ['b', 'd', 'e']
  const records = [
    record('a', null),
    record('b', 'a'),
    record('c', 'a'),
    record('d', 'c'),
    record('e', 'a'),
    record('f', 'a', { joins }),
    record('g', 'f'),
  ]
  expect(drawn(records)).toEqual([
    'sender → a',
    '├─ a → b',
    '├─ a → c',
    '│  c → d',
    '├─ a → e',
    '╰→ a → f (joins 3)',
    'f → g',
  ])
})

it('draws what a sender sent to several receivers as branches of it, and two sends one after the other', () => {
  const from = (executionId: string): Partial<Told> => ({
    fromAgent: { agentId: 'sender', agentVersion: '1.0.0', executionId },
  })
  const joins = ['a', 'b']
  expect(
    drawn([
      record('a', null, from('1')),
      record('b', null, from('1')),
      record('c', null, { ...from('1'), joins }),
      record('d', null, from('2')),
    ]),
  ).toEqual(['sender', '├─ sender → a', '├─ sender → b', '╰→ sender → c (joins 2)', 'sender → d'])
})

it('draws a fan-out within a branch, and what took up a handoff in its line', () => {
  const records = [
    record('a', null),
    record('b', 'a'),
    record('c', 'b'),
    record('d', 'b'),
    record('e', 'a'),
    record('e', 'a', { event: 'TASK_RESUMED', act: { id: 'e2', actor: 'ops' } }),
    record('e2', 'a'),
  ]
  expect(drawn(records)).toEqual([
    'sender → a',
    '├─ a → b',
    '│  ├─ b → c',
    '│  └─ b → d',
    '└─ a → e',
    '   a → e2',
  ])
})

it('ends where a log says that a handoff is its own ancestor', () => {
  expect(graphLines([record('a', 'b'), record('b', 'a'), record('c', 'a')])).toEqual([])
})
