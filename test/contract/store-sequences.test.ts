// Random sequences of everything that happens to a task's handoffs: Postgres and the model agree after every command.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isLong, seededRandom } from '@baton/testkit'
import { beginning } from '../model/world.ts'
import { newHandoff, openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'
import { opening, storeCommands } from './store-sequence-commands.ts'
import type { Real } from './store-sequence-sweeps.ts'

const SEQUENCES = Number(process.env['BATON_TEST_SEQUENCES'] ?? (isLong ? 300 : 100))
const COMMANDS_MAX = 80
const MS_PER_SEQUENCE = 1_000

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('store sequences')
})
afterAll(() => store.close())

const { seed } = seededRandom('store sequences')

async function emptied(): Promise<Real> {
  await store.rows(`delete from outbox; delete from retry; delete from execution;
    delete from dead_letter; delete from escalation; delete from handoff; delete from task`)
  const first = newHandoff()
  const second = newHandoff({ taskId: first.taskId })
  return { store, handoffs: [first, second], jobs: [], fencingTokens: [], publishAttempts: [] }
}

it(
  `${SEQUENCES} sequences end as the model says`,
  { timeout: 60_000 + SEQUENCES * MS_PER_SEQUENCE },
  async () => {
    const reached = new Map<string, number>()
    const sequences = fc.asyncProperty(
      fc.commands(storeCommands, { maxCommands: COMMANDS_MAX, size: 'max' }),
      async (commands) => {
        const real = await emptied()
        const model = beginning({ handoffs: 2, workers: 3, relays: 2, clicks: 0, faults: 0 })
        await opening.run(model, real)
        await fc.asyncModelRun(() => ({ model, real }), commands)
        for (const { state } of model.handoffs) reached.set(state, 1 + (reached.get(state) ?? 0))
      },
    )
    await fc.assert(sequences, { seed: seed | 0, numRuns: SEQUENCES, endOnFailure: true })
    process.stderr.write(`sequences: ${[...reached].map((pair) => pair.join(' ')).join(', ')}\n`)
    expect([...reached.keys()]).toEqual(expect.arrayContaining(['COMPLETED', 'CANCELED']))
  },
)
