// Whoever holds the auditor's secrets, its key of batches among them, can write a record of a decision that nobody made and have it sealed.
// It is seen wherever the log is verified by somebody who knows the keys of the people.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAuditLog, createPool, createSubjectVault } from '@baton/audit'
import type { AuditLog, Pool, VerifyReport } from '@baton/audit'
import { createBatchSigner } from '@baton/ledger'
import type { AuditEntry, AuditEvent } from '@baton/ledger'
import { createTestPeople, signedAct } from '@baton/testkit'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { createSealing } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'

let fixture: AuditFixture
let sealing: Sealing
let auditor: RunningAuditor
let pools: readonly Pool[]
/** The append path as a thief runs it who has the auditor's secrets: it checks nobody's signature. */
let stolen: AuditLog

/** People whom the thief has made up, with keys of their own and names of ours. */
const thieves = createTestPeople(['ann', 'bob'])
const forged = (entry: AuditEntry, person: string): AuditEntry => ({
  ...entry,
  act: signedAct(entry, person, thieves),
})

beforeAll(async () => {
  fixture = await createAuditFixture(1)
  sealing = await createSealing(fixture)
  auditor = await fixture.startAuditor({ BATON_SEAL_PUBLIC_KEY: sealing.publicKey })
  await sealing.startSealer()
  const { urls, vaultKeys, signingKey } = fixture
  const open = (url: string) => createPool({ url, applicationName: 'test', connectionsMax: 1 })
  pools = [open(urls.writer), open(urls.vault)]
  stolen = createAuditLog({
    db: pools[0] as Pool,
    vault: createSubjectVault({ db: pools[1] as Pool, ...vaultKeys }),
    signer: createBatchSigner(signingKey),
    environment: 'development',
  })
}, 60_000)
afterAll(async () => {
  await Promise.all((pools ?? []).map((pool) => pool.end()))
  await sealing?.close()
  await fixture?.close()
})

/** A handoff that the scanner stopped, as far as the votes about it. */
function stopped() {
  const [taskId, handoffId, release] = [randomUUID(), randomUUID(), randomUUID()]
  const of = (event: AuditEvent, more: Partial<AuditEntry> = {}) =>
    entryOf({
      taskId,
      handoffId,
      parentHandoffId: null,
      event,
      reason: 'SAFETY_VIOLATION',
      ...more,
    })
  return {
    taskId,
    begin: [of('HANDOFF_REJECTED', { sentBy: 'carl' }), of('DEAD_LETTERED')],
    vote: of('RELEASE_APPROVED'),
    end: [
      of('HANDOFF_RELEASED', { release }),
      of('HANDOFF_ACCEPTED', { release, sentBy: 'carl', epoch: 2 }),
      of('EXECUTION_COMPLETED', { epoch: 2 }),
    ],
  }
}

const signed = (entry: AuditEntry, person: string): AuditEntry => ({
  ...entry,
  act: signedAct(entry, person),
})

const overHttp = () => auditor.read<VerifyReport>('/v1/verify')

test('decisions that people signed are proven, in a log that nobody attacked', async () => {
  const { begin, vote, end } = stopped()
  await auditor.client.append([...begin, signed(vote, 'ann'), signed(vote, 'bob'), ...end])
  await sealing.sealed()
  for (const report of [await sealing.verify(), await overHttp()])
    expect([report.findings, report.decisions]).toEqual([
      [],
      { decisions: 2, judged: { trusted: 2, untrusted: 0, unsigned: 0, wrong: 0 } },
    ])
})

describe('a release with forged votes, signed by the key of batches and sealed', () => {
  const attacked = stopped()
  beforeAll(async () => {
    const { begin, vote, end } = attacked
    await auditor.client.append(begin)
    await stolen.append([forged(vote, 'ann'), forged(vote, 'bob'), ...end])
    const act = { ...signedAct(vote, 'ann'), actor: 'eve' }
    await stolen.append([{ ...vote, act }])
    await sealing.sealed()
  })

  test('is found by whoever knows the people, over HTTP too', async () => {
    for (const report of [await sealing.verify(), await overHttp()]) {
      const found = report.findings.map(({ rule, message }) => `${rule} ${message}`)
      expect(found).toEqual([
        expect.stringMatching(/^DECISION .*another person/),
        expect.stringMatching(/^DECISION .*no key of this person that this log ever listed/),
        expect.stringMatching(/^DECISION .*no key of this person that this log ever listed/),
      ])
      expect(report.verdict).toBe('altered')
    }
  })

  test('is not judged where nobody is named, and that is said', async () => {
    const report = await sealing.verify({ people: undefined })
    expect([report.verdict, report.decisions]).toEqual(['verified', { decisions: 5, judged: null }])
  })
})
