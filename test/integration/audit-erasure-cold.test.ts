// A person whose records are in the cold store alone is erased: each segment is judged there, and both tiers verify.
import { createPrivateKey, randomUUID, sign } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createAuditLog,
  createEraser,
  createHoldFinder,
  createPool,
  findIncompleteErasures,
  readErasedLists,
} from '@baton/audit'
import type { Eraser } from '@baton/audit'
import type { ErasureOutcome, Pool } from '@baton/audit'
import { createBatchSigner, erasureConfirmation, erasureRequest } from '@baton/ledger'
import type { Receipt } from '@baton/ledger'
import { PEOPLE } from '@baton/testkit'
import { createTiers } from './audit-tiers-fixture.ts'
import type { Tiers } from './audit-tiers-fixture.ts'

const DAY_MS = 86_400_000
const ERASED_ONCE = { present: 0, erased: 1, missing: 0, mismatch: 0 }

interface Person {
  readonly id: string
  readonly subject: string
  readonly handoffIds: readonly string[]
  readonly taskIds: readonly string[]
}

let tiers: Tiers
let erasedLongAgo: Person
let erasedNow: Person
/** Of seq 2, whose subject is erased by nobody; as it stood in the database. */
let kept: { readonly ciphertext: Buffer; readonly subjectRef: string }
/** As a backup has it: the subject of `erasedNow`, and what is stored of its key. */
let storedKey: readonly unknown[]
const pools: Pool[] = []

beforeAll(async () => {
  tiers = await createTiers()
  erasedLongAgo = await addPerson()
  erasedNow = await addPerson()
  await addPerson()
  const { rows } = await tiers.fixture.superuser.query<typeof kept>({
    text: 'select ciphertext, subject_ref as "subjectRef" from audit.payload order by seq',
  })
  kept = rows[2] as typeof kept
  storedKey = await readKey(rows[1]?.subjectRef)
  await tiers.append(40, 1)
  await erase(openEraser(40), erasedLongAgo)
  await tiers.append(40, 399)
  await tiers.append(0, 200)
  await tiers.sealing.sealed()
  const archiver = await tiers.startArchiver()
  await tiers.archived(({ hotFrom }) => hotFrom === 3 + 400 + 2)
  await archiver.stop()
})
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()))
  await tiers?.close()
})

async function addPerson(): Promise<Person> {
  const subject = `person-${randomUUID()}`
  const segments = [{ kind: 'personal' as const, subject, text: 'a name' }]
  const [told] = await tiers.append(41, 1, { segments })
  const { handoffId = '', taskId = '' } = told ?? {}
  return { id: randomUUID(), subject, handoffIds: [handoffId], taskIds: [taskId] }
}

async function readKey(subjectRef: string | undefined): Promise<readonly unknown[]> {
  const { rows } = await tiers.fixture.vaultSuperuser.query<{ key: Buffer; id: string }>({
    text: 'select wrapped_key as key, wrapping_key_id as id from vault.subject_key where subject_ref = $1',
    values: [subjectRef],
  })
  return [subjectRef, rows[0]?.key, rows[0]?.id]
}

/** Its records are as old as `daysAgo` says. */
function openEraser(daysAgo: number): Eraser {
  const { fixture, vault, batchKeys, cold } = tiers
  const open = (url: string) => {
    const pool = createPool({ url, applicationName: 'test', connectionsMax: 2 })
    pools.push(pool)
    return pool
  }
  const signer = createBatchSigner(fixture.signingKey)
  const privateKey = createPrivateKey({
    key: Buffer.from(fixture.signingKey, 'base64'),
    format: 'der',
    type: 'pkcs8',
  })
  const nowMicros = () => (Date.now() - daysAgo * DAY_MS) * 1_000
  const db = open(fixture.urls.writer)
  const log = createAuditLog({ db, vault, signer, environment: 'test', nowMicros })
  return createEraser({
    db: open(fixture.urls.eraser),
    writer: db,
    reader: fixture.reader,
    vaultDb: open(fixture.urls.vault),
    vault,
    environment: 'test',
    batchKeys,
    people: PEOPLE.people,
    append: async (entries) =>
      (await log.append(entries)).flatMap((outcome): Receipt[] =>
        outcome.kind === 'receipt' ? [outcome.receipt] : [],
      ),
    cold: { db: fixture.reader, store: cold },
    covered: () => Promise.resolve(undefined),
    sealAgeMaxMs: 90_000,
    finder: createHoldFinder(),
    signer: { keyId: signer.keyId, sign: (statement) => sign(null, statement, privateKey) },
  })
}

async function erase(eraser: Eraser, person: Person): Promise<ErasureOutcome> {
  const plan = { ...person, basis: 'GDPR_ART_17_1', requestedBy: 'ann' }
  await eraser.plan({ ...plan, signedDecision: PEOPLE.sign(erasureRequest(plan, 'ann')) })
  const signedDecision = PEOPLE.sign(erasureConfirmation(plan, 'bob'))
  const confirmed = await eraser.confirm({ ...person, confirmedBy: 'bob', signedDecision })
  expect(confirmed).toMatchObject({ kind: 'erased' })
  return eraser.complete(person.id)
}

test('segments that only the cold store holds are listed, named, without a key and judged', async () => {
  const outcome = await erase(openEraser(0), erasedNow)
  const cold = outcome.stores.filter(({ name }) => name.startsWith('cold object'))
  expect(cold).toMatchObject([{ before: 1, after: 0 }])
  expect(outcome.stores).toContainEqual({ name: 'audit payload segments', before: 1, after: 0 })
  expect(outcome.verdicts).toEqual(ERASED_ONCE)
  expect((await tiers.verify()).findings).toEqual([])
})

test('an erasure is known as incomplete while a key of it is stored', async () => {
  const { fixture, vault } = tiers
  const incomplete = () => findIncompleteErasures(fixture.reader, vault)
  expect(await incomplete()).toEqual([])
  await fixture.vaultSuperuser.query({
    text: `insert into vault.subject_key (subject_ref, lookup, wrapped_key, wrapping_key_id)
      values ($1, null, $2, $3)`,
    values: [...storedKey],
  })
  expect(await incomplete()).toEqual([erasedNow.id])
  await openEraser(0).replay()
  expect(await incomplete()).toEqual([])
})

test('an erasure whose own records left the database is still known as one', async () => {
  const { superuser } = tiers.fixture
  const hot = await superuser.query({
    text: `select 1 from audit.record where task_id = '${erasedLongAgo.id}'`,
  })
  expect(hot.rows).toEqual([])
  const outcome = await openEraser(0).complete(erasedLongAgo.id)
  expect(outcome.verdicts).toEqual(ERASED_ONCE)
})

test('T25 what is edited beside erased segments in the cold store is a mismatch, and located', async () => {
  const path = join(tiers.folder, 'baton/development/1/s0/payload/000.zst')
  const stored = await readFile(path)
  const findings = async (edit: (bytes: Buffer, ciphertextAt: number) => unknown) => {
    const bytes = zstdDecompressSync(stored)
    edit(bytes, bytes.indexOf(kept.ciphertext))
    await writeFile(path, zstdCompressSync(bytes))
    return (await tiers.verify()).findings.map(({ rule, seq }) => `${rule}:${seq}`)
  }
  expect(await findings(() => undefined)).toEqual([])
  const flipped = await findings((bytes, at) => bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at))
  expect(flipped).toEqual(['PAYLOAD_MISMATCH:2'])
  const uuid = (text: string) => Buffer.from(text.replaceAll('-', ''), 'hex')
  const [erased] = await readErasedLists(tiers.fixture.reader, erasedNow.id)
  const moved = await findings((bytes, at) => {
    const own = bytes.lastIndexOf(uuid(kept.subjectRef), at)
    uuid(erased?.subjectRef ?? '').copy(bytes, own)
  })
  expect(moved).toEqual(['PAYLOAD_MISMATCH:2'])
})
