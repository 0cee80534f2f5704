// An outsider who knows C2SP alone can fetch checkpoints and tiles, and prove records and growth from them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createBatchSigner,
  decodeEntryBundle,
  encodeUtf8,
  hashLeaf,
  openNote,
  parseCheckpoint,
  proveConsistency,
  proveInclusion,
  readRecord,
  rootOf,
  SIGNATURE_TYPES,
  tileHashReader,
  tilePath,
  tileWidth,
  verifierKey,
  verifyConsistency,
  verifyInclusion,
} from '@baton/ledger'
import type { Checkpoint } from '@baton/ledger'
import { createAuditFixture, entryOf, problemOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { createSealing } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'

let fixture: AuditFixture
let sealing: Sealing
let auditor: RunningAuditor
let taskId = ''

const fetched = (path: string) =>
  fetch(`${auditor.url}${path}`, {
    headers: { authorization: 'Bearer read-token-ecae13117d6f0584c25a9d' },
  })
const bytes = async (path: string) => new Uint8Array(await (await fetched(path)).arrayBuffer())

async function checkpoint(prefix: string, origin: string): Promise<Checkpoint> {
  const spki = createBatchSigner(sealing.sealKey).publicKey.export({ format: 'der', type: 'spki' })
  const key = verifierKey(origin, SIGNATURE_TYPES.ed25519, Uint8Array.from(spki.subarray(-32)))
  const opened = openNote(encodeUtf8(await (await fetched(`${prefix}/checkpoint`)).text()), [key])
  return parseCheckpoint(opened.ok ? opened.text : '') as Checkpoint
}

const reader = (prefix: string, size: number) =>
  tileHashReader({ size, readTile: (tile) => bytes(`${prefix}/${tilePath(tile)}`) })

beforeAll(async () => {
  fixture = await createAuditFixture(1)
  sealing = await createSealing(fixture)
  auditor = await fixture.startAuditor({ BATON_SEAL_PUBLIC_KEY: sealing.publicKey })
  const entries = Array.from({ length: 600 }, () => entryOf())
  taskId = entries[0]?.taskId ?? ''
  await auditor.client.append(entries)
  const sealer = await sealing.startSealer({ BATON_SEAL_HEARTBEAT_MS: '100' })
  await sealing.sealed()
  await sealer.stop()
})
afterAll(async () => {
  await sealing?.close()
  await fixture?.close()
})

describe('a chain', () => {
  test('every entry is in the signed tree, by tiles alone', async () => {
    const { size, root } = await checkpoint('/chains/0', 'baton/development/1/s0')
    expect(size).toBe(600)
    const leaves: Uint8Array[] = []
    for (let index = 0; index * 256 < size; index += 1) {
      const width = tileWidth({ level: 'entries', index }, size)
      const path = tilePath({ level: 'entries', index, width })
      const entries = decodeEntryBundle(await bytes(`/chains/0/${path}`), width) ?? []
      for (const entry of entries) {
        expect(readRecord(entry)?.seq).toBe(leaves.length)
        leaves.push(hashLeaf(entry))
      }
    }
    expect(rootOf(leaves)).toEqual(root)
    const read = reader('/chains/0', size)
    for (const index of [0, 255, 256, 511, 599]) {
      const proof = await proveInclusion(read, { index, size })
      const leafHash = leaves[index] as Uint8Array
      expect(verifyInclusion({ index, size, leafHash, proof, root })).toBe(true)
    }
  })

  test('a tile of the second level has the hashes of whole tiles', async () => {
    const tile = await bytes('/chains/0/tile/1/000.p/2')
    const lowest = await bytes('/chains/0/tile/0/000')
    const leaves = Array.from({ length: 256 }, (_, at) => lowest.subarray(at * 32, at * 32 + 32))
    expect(tile.subarray(0, 32)).toEqual(rootOf(leaves))
  })

  test('nothing beyond the signed tree is served', async () => {
    await auditor.client.append([entryOf()])
    for (const path of [
      'tile/0/002.p/89',
      'tile/0/003',
      'tile/entries/002',
      'tile/1/000',
      'tile/x',
    ]) {
      expect(await problemOf(await fetched(`/chains/0/${path}`))).toMatchObject({ status: 404 })
    }
    expect(await problemOf(await fetched('/chains/7/checkpoint'))).toMatchObject({
      code: 'BATON_CHECKPOINT_UNKNOWN',
    })
    expect((await fetch(`${auditor.url}/checkpoint`)).status).toBe(401)
    expect((await fetch(`${auditor.url}/tile/0/000`)).status).toBe(401)
  })
})

test('the seal log grows only, by tiles alone', async () => {
  const before = await checkpoint('', 'baton/development/seals')
  const sealer = await sealing.startSealer({ BATON_SEAL_HEARTBEAT_MS: '100' })
  await sealing.sealed()
  await sealer.stop()
  const after = await checkpoint('', 'baton/development/seals')
  expect(after.size).toBeGreaterThan(before.size)
  const sizes = { fromSize: before.size, toSize: after.size }
  const proof = await proveConsistency(reader('', after.size), sizes)
  const roots = { fromRoot: before.root, toRoot: after.root }
  expect(verifyConsistency({ ...sizes, ...roots, proof })).toBe(true)
})

test('a trace says how well each record is protected', async () => {
  interface Trace {
    readonly records: readonly { readonly assurance: string }[]
  }
  const assurances = async (task: string) =>
    (await auditor.read<Trace>(`/v1/traces/${task}`)).records.map(({ assurance }) => assurance)
  expect(await assurances(taskId)).toEqual(['witnessed'])
  const fresh = entryOf()
  await auditor.client.append([fresh])
  expect(await assurances(fresh.taskId)).toEqual(['committed'])
})
