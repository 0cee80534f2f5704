// Whoever holds the auditor's secrets, its key of batches among them, can write a record of a decision that nobody made and have it sealed.
// It is seen wherever the log, or a bundle out of it, is verified by somebody who knows the keys of the people.
import { createPrivateKey, randomUUID, sign } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createAuditLog,
  createEraser,
  createHoldFinder,
  createPool,
  createSubjectVault,
} from '@baton/audit'
import type { AuditLog, Eraser, Pool, VerifyReport } from '@baton/audit'
import { batchKeyId, createBatchSigner, erasureConfirmation, erasureRequest } from '@baton/ledger'
import type { AuditEntry, AuditEvent, Receipt } from '@baton/ledger'
import { createTestPeople, signedAct } from '@baton/testkit'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { createSealing, privateKey } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'
import { verdictOf, VERIFIERS } from './offline-verifiers.ts'

let fixture: AuditFixture
let sealing: Sealing
let auditor: RunningAuditor
let pools: readonly Pool[]
/** The append path as a thief runs it who has the auditor's secrets: it checks nobody's signature. */
let stolen: AuditLog
/** Its eraser in the same hands: it believes the thief's people, and tells of who asked for an erasure elsewhere in the log. */
let stolenEraser: Eraser

const EVIDENCE = { authorization: 'Bearer evidence-token-14e10d570047667f904261' }

/** People whom the thief has made up, with keys of their own and names of ours. */
const thieves = createTestPeople(['ann', 'bob'])
const forged = (entry: AuditEntry, person: string): AuditEntry => ({
  ...entry,
  act: signedAct(entry, person, thieves),
})

/** The database deletes no text before a request for it is recorded, and does not ask in which task. */
const elsewhere = ({ erasure, ...entry }: AuditEntry): AuditEntry =>
  entry.event === 'ERASURE_REQUESTED'
    ? { ...entry, taskId: randomUUID() }
    : { ...entry, ...(erasure && { erasure }) }

beforeAll(async () => {
  fixture = await createAuditFixture(1)
  sealing = await createSealing(fixture)
  auditor = await fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: sealing.publicKey,
    BATON_AUDIT_EVIDENCE_TOKEN: EVIDENCE.authorization.slice('Bearer '.length),
    BATON_EVIDENCE_SIGNING_KEY: privateKey(),
  })
  await sealing.startSealer()
  const { urls, vaultKeys, signingKey } = fixture
  const open = (url: string) => createPool({ url, applicationName: 'test', connectionsMax: 1 })
  const [writer, vaultDb, db] = [urls.writer, urls.vault, urls.eraser].map(open) as [
    Pool,
    Pool,
    Pool,
  ]
  pools = [writer, vaultDb, db]
  const vault = createSubjectVault({ db: vaultDb, ...vaultKeys })
  const signer = createBatchSigner(signingKey)
  stolen = createAuditLog({ db: writer, vault, signer, environment: 'development' })
  const key = Buffer.from(signingKey, 'base64')
  const privateHalf = createPrivateKey({ key, format: 'der', type: 'pkcs8' })
  stolenEraser = createEraser({
    db,
    writer,
    reader: fixture.reader,
    vaultDb,
    vault,
    environment: 'development',
    batchKeys: new Map([[batchKeyId(signer.publicKey), signer.publicKey]]),
    people: thieves.people,
    append: async (entries) =>
      (await stolen.append(entries.map(elsewhere))).flatMap((outcome): Receipt[] =>
        outcome.kind === 'receipt' ? [outcome.receipt] : [],
      ),
    cold: undefined,
    covered: () => Promise.resolve(undefined),
    sealAgeMaxMs: 90_000,
    finder: createHoldFinder(),
    signer: { keyId: signer.keyId, sign: (statement) => sign(null, statement, privateHalf) },
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

/** A finished task that tells of a person. */
async function aboutSomebody() {
  const [taskId, handoffId, subject] = [randomUUID(), randomUUID(), `person-${randomUUID()}`]
  const segments = [{ kind: 'personal' as const, subject, text: 'a name' }]
  const told = entryOf({ taskId, handoffId, parentHandoffId: null, segments })
  await auditor.client.append([told, { ...told, event: 'EXECUTION_COMPLETED', segments: [] }])
  return { id: randomUUID(), subject, handoffIds: [handoffId], taskIds: [taskId] }
}

const append = async (entries: readonly AuditEntry[]): Promise<string> => {
  await stolen.append(entries)
  return entries[0]?.taskId ?? ''
}

/** Each makes a task, and answers which: all that the log tells of it is signed by the key of batches, and sealed. */
const TASKS: Readonly<Record<string, readonly [() => Promise<string>, string, RegExp?]>> = {
  'a release by two people': [
    async () => {
      const { begin, vote, end } = stopped()
      return append([...begin, signed(vote, 'ann'), signed(vote, 'bob'), ...end])
    },
    'valid',
  ],
  'a redaction by two people': [
    async () => {
      const { begin, vote, end } = stopped()
      const [released, accepted, done] = end as [AuditEntry, AuditEntry, AuditEntry]
      const [{ release: _, ...redacted }, { release: __, ...again }] = [released, accepted]
      const event = 'HANDOFF_REDACTED'
      const votes = [signed(vote, 'ann'), signed(vote, 'bob')]
      return append([...begin, ...votes, { ...redacted, event }, again, done])
    },
    'valid',
  ],
  'an erasure that one planned and another confirmed': [
    async () => {
      const { id, subject, handoffIds, taskIds } = await aboutSomebody()
      const where = { subject, handoffIds, taskIds }
      const plan = { id, ...where, basis: 'GDPR_ART_17_1', requestedBy: 'ann' }
      const confirmed = `/v1/erasures/${id}/confirm`
      const steps = [
        ['/v1/erasures', plan],
        [confirmed, { ...where, confirmedBy: 'bob' }],
        [`/v1/erasures/${id}/complete`, { stores: [] }],
      ] as const
      for (const [path, body] of steps)
        expect([path, (await auditor.erase(path, body)).status]).toEqual([path, 200])
      return taskIds[0] as string
    },
    'valid',
  ],
  'a release by people whom somebody made up': [
    async () => {
      const { begin, vote, end } = stopped()
      return append([...begin, forged(vote, 'ann'), forged(vote, 'bob'), ...end])
    },
    'incomplete',
    /none of those|nobody's who is named/,
  ],
  'votes that came after the release had been made use of': [
    async () => {
      const { begin, vote, end } = stopped()
      return append([...begin, ...end, signed(vote, 'ann'), signed(vote, 'bob')])
    },
    'tampered',
    /2 people, and 0/,
  ],
  'one voter twice': [
    async () => {
      const { begin, vote, end } = stopped()
      return append([...begin, signed(vote, 'ann'), signed(vote, 'ann'), ...end])
    },
    'tampered',
    /2 people, and 1/,
  ],
  'the release of another handoff': [
    async () => {
      const { begin, vote, end } = stopped()
      const handoffId = randomUUID()
      const [, accepted, done] = end.map((entry) => ({ ...entry, handoffId }))
      const votes = [signed(vote, 'ann'), signed(vote, 'bob')]
      return append([...begin, ...votes, ...end, accepted as AuditEntry, done as AuditEntry])
    },
    'tampered',
    /of another handoff/,
  ],
  'a signature over another text': [
    async () => {
      const { begin, vote, end } = stopped()
      const act = signedAct({ ...vote, handoffId: randomUUID() }, 'bob')
      return append([...begin, signed(vote, 'ann'), { ...vote, act }, ...end])
    },
    'tampered',
    /signature is (?:wrong|not over)/,
  ],
  'an erasure that nobody planned': [
    async () => {
      const person = await aboutSomebody()
      const plan = { ...person, basis: 'GDPR_ART_17_1', requestedBy: 'ann' }
      await stolenEraser.plan({
        ...plan,
        signedDecision: thieves.sign(erasureRequest(plan, 'ann')),
      })
      const signedDecision = thieves.sign(erasureConfirmation(plan, 'bob'))
      const confirmed = await stolenEraser.confirm({
        ...person,
        confirmedBy: 'bob',
        signedDecision,
      })
      expect(confirmed).toMatchObject({ kind: 'erased' })
      await stolenEraser.complete(person.id)
      return person.taskIds[0] as string
    },
    'tampered',
    /no record plans/,
  ],
}

describe('a bundle that the auditor exports', () => {
  const bundles = new Map<string, Uint8Array>()
  const said = new Map<string, string | null>()
  let policy = ''
  const ask = (path: string) => fetch(auditor.url + path, { headers: EVIDENCE })
  beforeAll(async () => {
    const taskIds = new Map<string, string>()
    for (const [name, [make]] of Object.entries(TASKS)) taskIds.set(name, await make())
    await sealing.sealed()
    policy = await (await ask('/v1/policy')).text()
    for (const [name, taskId] of taskIds) {
      const exported = await ask(`/v1/evidence/${taskId}`)
      said.set(name, exported.headers.get('baton-verdict'))
      bundles.set(name, new Uint8Array(await exported.arrayBuffer()))
    }
  }, 60_000)

  test.each(Object.entries(TASKS))('%s: it says so itself', (name, [, verdict]) => {
    expect(said.get(name)).toBe(verdict)
  })

  describe.each(VERIFIERS)('by %s', (verifier) => {
    test.each(Object.entries(TASKS))('%s', async (name, [, verdict, says]) => {
      const bundle = bundles.get(name) as Uint8Array
      const { found, ...is } = await verdictOf(verifier, bundle, policy)
      expect([is.verdict, Object.keys(found)]).toEqual([verdict, says ? ['DECISIONS'] : []])
      expect(found['DECISIONS'] ?? '').toMatch(says ?? /^$/)
      const nobody = policy.replaceAll(/^# baton-person .*\n/gm, '')
      const open = await verdictOf(verifier, bundle, nobody)
      expect(open).toMatchObject({
        verdict: 'valid',
        notExcluded: expect.arrayContaining([expect.stringMatching(/^decisions by others/)]),
      })
    })
  })
})
