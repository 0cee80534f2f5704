// The auditor records no decision by a key that has ended, whatever time its signature names, and nobody lists its people for it.
import { generateKeyPairSync } from 'node:crypto'
import type { AppendOutcome } from '@baton/audit'
import {
  actIdOf,
  parsePeople,
  peopleEntries,
  personEntry,
  readDecisionSigner,
  recorded,
  signDecision,
} from '@baton/ledger'
import type { AuditEntry, People } from '@baton/ledger'
import { entryOf } from '@baton/ledger/fixtures/entry'
import { createBatcher, createLogger } from '@baton/runtime'
import { expect, it } from 'vitest'
import { appendRecords } from './append-records.ts'

const { privateKey } = generateKeyPairSync('ed25519')
const ann = readDecisionSigner(
  privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
)

const receipt = { origin: 'baton/test/1/s0', seq: 0, recordHash: '', duplicate: false }

/** As far as it is checked before the log. */
function appendedBy(people: People, entry: AuditEntry): Promise<readonly unknown[]> {
  const batcher = createBatcher<AuditEntry, AppendOutcome>({
    name: 'append',
    maxItems: 1,
    maxQueued: 1,
    flush: (entries) =>
      Promise.resolve(
        entries.map(() => ({ kind: 'receipt', receipt: { ...receipt, recordedAt: '' } })),
      ),
  })
  const logger = createLogger({ service: 'test', level: 'fatal' })
  return appendRecords({ batcher, queuedMax: 1, people, logger }, { entries: [entry] }, 'service')
}

/** What becomes of a vote that says it was signed in 2024, where Ann's key has ended so many days ago. */
async function appended(endedDaysAgo: number): Promise<unknown> {
  const entry = entryOf({ event: 'RELEASE_APPROVED' })
  const { taskId, handoffId } = entry
  const decision = { event: 'RELEASE_APPROVED', taskId, handoffId, person: 'ann' } as const
  const decided = '0'.repeat(64)
  const signed = recorded(signDecision({ ...decision, decided }, ann, new Date('2024-01-31')))
  const act = { id: actIdOf(signed), actor: 'ann', signed }
  const end = new Date(Date.now() - endedDaysAgo * 86_400_000).toISOString().slice(0, 10)
  const people = parsePeople(`${personEntry('ann', ['reviewer'], ann.publicKey)}:${end}`)
  return appendedBy(people, { ...entry, act })
}

it('takes a decision that waited out an outage of days, and no key that ended a week before', async () => {
  await expect(appended(6)).resolves.toHaveLength(1)
  await expect(appended(8)).rejects.toMatchObject({
    code: 'BATON_DECISION_UNSIGNED',
    message: expect.stringContaining('expired_key'),
  })
})

it('takes no list of people from whoever appends', async () => {
  const people = parsePeople(personEntry('ann', ['reviewer'], ann.publicKey))
  const [list] = peopleEntries(people) as [AuditEntry]
  await expect(appendedBy(people, list)).rejects.toMatchObject({
    code: 'BATON_AUDIT_EVENT_RESERVED',
  })
  const ofGateway = { ...list, operation: { ...list.operation, subject: 'gateway' } } as AuditEntry
  await expect(appendedBy(people, ofGateway)).resolves.toHaveLength(1)
})
