// A seal key is changed by an entry that both keys signed; whoever trusts one of them follows it, and nobody else is followed.
import { describe, expect, test } from 'vitest'
import {
  CHAIN,
  checkpointBy,
  knownSigner,
  newSigner,
  rotatedLog,
  SEALS,
} from '../fixtures/rotated-log.ts'
import { readFileSync } from 'node:fs'
import { decodeUtf8, toBase64 } from './bytes.ts'
import { canonicalBytes } from './canonical-json.ts'
import { signHandover } from './handover.ts'
import { formatVerifierKey, SIGNATURE_TYPES, verifierKey } from './note/key.ts'
import type { NoteSigner } from './note/signer.ts'
import type { SealEntry } from './seal-entry.ts'
import { HANDOVERS_MAX, readSealEntry, sealFault } from './seal-entry.ts'
import { handoverStatement, openSealNote, resolveSealKeys } from './seal-keys.ts'
import type { HandoverEvidence, SealKeys, UnsignedHandover } from './seal-keys.ts'

const signers = [newSigner(), newSigner(), newSigner()] as const
const [old, middle, last] = signers
const thief = newSigner()
const AT = [4, 7]
const log = await rotatedLog({ seals: 10, at: AT, signers })

const trusted = [old.key.publicKey]
const resolve = (evidence = log.evidence, keys = trusted) => resolveSealKeys(SEALS, keys, evidence)
const keysOf = (): SealKeys => {
  const resolved = resolve()
  if (!resolved.ok) throw new Error(resolved.fault)
  return resolved.keys
}

describe('the keys of a seal log', () => {
  test.each([
    ['oldest', old],
    ['one between', middle],
    ['newest', last],
  ])('follow from the %s alone', (_, { key }) => {
    const resolved = resolve(log.evidence, [key.publicKey])
    expect(resolved.ok && resolved.keys.publicKeys).toEqual(signers.map((one) => one.key.publicKey))
    expect(resolved.ok && resolved.keys.handovers.map(({ seq }) => seq)).toEqual(AT)
  })

  test('open every checkpoint of the log, each by the key that was in force', () => {
    const by = log.notes.map((note) => {
      const opened = openSealNote(note, SEALS, keysOf())
      return opened.ok ? signers.findIndex(({ key }) => key.keyId === opened.key.keyId) : -1
    })
    expect(by).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 2, 2])
  })

  test.each([
    ['old', old, 6, 'retired'],
    ['old', old, 10, 'retired'],
    ['one between', middle, 5, 'retired'],
    ['one between', middle, 9, 'retired'],
    ['new', last, 8, 'retired'],
    ['stranger’s', thief, 6, 'unsigned'],
  ] as const)('do not open what the %s key signed of %# %i seals', (_, signer, size, reason) => {
    const note = checkpointBy(signer, { size, root: log.roots[size] as Uint8Array })
    expect(openSealNote(note, SEALS, keysOf())).toEqual({ ok: false, reason })
  })

  test('end for a chain where the entry of the hand-over says, whose size both may sign', () => {
    const root = new Uint8Array(32)
    const by = (signer: NoteSigner, size: number) => {
      const note = checkpointBy(inChain(signer), { size, root })
      const opened = openSealNote(note, CHAIN, keysOf())
      return opened.ok || opened.reason
    }
    expect([49, 50, 51].map((size) => by(old, size))).toEqual([true, true, 'retired'])
    expect([49, 50, 80, 81].map((size) => by(middle, size))).toEqual([
      'retired',
      true,
      true,
      'retired',
    ])
    expect([79, 80, 999].map((size) => by(last, size))).toEqual(['retired', true, true])
  })
})

/** The same private key under the name of the chain. */
function inChain({ key, sign }: NoteSigner): NoteSigner {
  const named = verifierKey(CHAIN, SIGNATURE_TYPES.ed25519, key.publicKey)
  return {
    key: named,
    sign: (text) => ({ ...sign(text), name: CHAIN, keyId: named.keyId }),
  }
}

test('a hand-over of known keys has the bytes of the published example', async () => {
  const page = readFileSync(new URL('../verifier/FORMAT.md', import.meta.url), 'utf8')
  const known = [knownSigner(1), knownSigner(2)]
  const { entries, evidence, roots } = await rotatedLog({ seals: 2, at: [1], signers: known })
  const entry = readSealEntry(entries[1] as Uint8Array) as UnsignedHandover
  const [{ path, note }] = evidence as [HandoverEvidence]
  for (const text of [
    `${known.map(({ key }) => formatVerifierKey(key)).join('\n')}\n${decodeUtf8(entries[0] as Uint8Array)}\n`,
    `\n${handoverStatement(entry, roots[1] as Uint8Array)}\`\`\``,
    `\n${decodeUtf8(entries[1] as Uint8Array)}\n${note}\`\`\``,
  ]) {
    expect(page).toContain(text)
  }
  expect(path.map(toBase64)).toEqual([toBase64(roots[1] as Uint8Array)])
  expect(resolve(evidence, [(known[0] as NoteSigner).key.publicKey]).ok).toBe(true)
})

describe('a hand-over is none', () => {
  const edited = async (edit: (entry: SealEntry, seq: number) => SealEntry) =>
    (await rotatedLog({ seals: 6, at: [4], signers, edit })).evidence
  const with4 = (change: (entry: Required<SealEntry>) => SealEntry) =>
    edited((entry, seq) => (seq === 4 ? change(entry as Required<SealEntry>) : entry))
  const by = (to: NoteSigner, from = old.key) =>
    edited((entry, seq) => {
      if (seq !== 4) return entry
      const { at, chains, handovers = [] } = entry
      return signHandover(
        { v: 3, at, chains, handovers },
        { from, to, rootBefore: log.roots[4] as Uint8Array },
      )
    })

  test.each([
    [
      'without the signature of the new key',
      'PROOF',
      () => with4((entry) => ({ ...entry, handover: { ...entry.handover, proof: zeros(64) } })),
    ],
    [
      'to a key of which somebody has only the public half',
      'PROOF',
      () =>
        with4((entry) => {
          const to = formatVerifierKey(thief.key)
          return { ...entry, handover: { ...entry.handover, to } }
        }),
    ],
    [
      'whose chains were changed after it was signed',
      'PROOF',
      () =>
        with4((entry) => ({ ...entry, chains: [{ origin: CHAIN, size: 51, root: zeros(32) }] })),
    ],
    ['from a key that never signed', 'UNSIGNED', () => by(middle, thief.key)],
    ['to the key itself', 'RETURNED', () => by(old)],
    ['to a key of another log', 'KEYS', () => by(newSigner('baton/other/seals'))],
    [
      'in an entry without one',
      'ENTRY',
      () => with4(({ v, at, chains, handovers }) => ({ v, at, chains, handovers })),
    ],
    [
      'at another place than it says',
      'UNSIGNED',
      () => with4((entry) => ({ ...entry, handovers: [3] })),
    ],
  ] as const)('%s', async (_, fault, make) => {
    expect(resolve(await make())).toMatchObject({ ok: false, fault })
  })

  test('signed by a key that was handed over already, or that is handed over twice', async () => {
    const twice = await rotatedLog({ seals: 10, at: AT, signers: [old, middle, old] })
    expect(resolve(twice.evidence)).toMatchObject({ fault: 'RETURNED', at: 1 })
    const [first, second] = log.evidence
    expect(resolve([first, first] as never)).toMatchObject({ fault: 'ENTRY', at: 1 })
    expect(resolve([second] as never)).toMatchObject({ fault: 'ENTRY', at: 0 })
    const forked = await rotatedLog({ seals: 8, at: AT, signers: [old, thief, middle] })
    const mixed = [first, forked.evidence[1]] as never
    expect(resolve(mixed)).toMatchObject({ fault: 'FROM', at: 1 })
  })

  test('where its checkpoint is signed by the new key, or by nobody', () => {
    const [one] = log.evidence as [(typeof log.evidence)[0]]
    const root = log.roots[5] as Uint8Array
    for (const signer of [middle, thief]) {
      const note = checkpointBy(signer, { size: 5, root })
      expect(resolve([{ ...one, note }])).toMatchObject({ fault: 'UNSIGNED' })
    }
    const other = checkpointBy(old, { size: 5, root: log.roots[6] as Uint8Array })
    expect(resolve([{ ...one, note: other }])).toMatchObject({ fault: 'TREE' })
    expect(resolve([{ ...one, path: one.path.slice(1) }])).toMatchObject({ fault: 'TREE' })
  })

  test('between keys none of which is trusted', () => {
    expect(resolve(log.evidence, [thief.key.publicKey])).toEqual({
      ok: false,
      fault: 'UNTRUSTED',
      at: null,
    })
  })

  test('that a thief of the old key makes of another past, for those who trust the new one', async () => {
    const proof = (readSealEntry(log.entries[4] as Uint8Array) as Required<SealEntry>).handover
      .proof
    const forged = await rotatedLog({
      seals: 6,
      at: [4],
      signers: [old, middle],
      edit(entry, seq) {
        const chains = [{ origin: CHAIN, size: (seq + 1) * 10, root: zeros(32) }]
        if (seq < 4) return { ...entry, chains }
        return entry.handover === undefined
          ? entry
          : { ...entry, handover: { ...entry.handover, proof } }
      },
    })
    expect(resolve(forged.evidence, [middle.key.publicKey])).toMatchObject({ fault: 'PROOF' })
  })
})

describe('entries around a hand-over', () => {
  const entries = log.entries.map((bytes) => readSealEntry(bytes) as SealEntry)
  const [before, handover, after] = entries.slice(3, 6) as [SealEntry, SealEntry, SealEntry]

  test('read back, name every hand-over so far, and follow each other', () => {
    expect(entries.map(({ v, handovers }) => [v, handovers])).toEqual([
      ...Array.from({ length: 4 }, () => [1, undefined]),
      ...Array.from({ length: 3 }, () => [3, [4]]),
      ...Array.from({ length: 3 }, () => [3, [4, 7]]),
    ])
    const faults = entries.slice(1).map((entry, at) => sealFault(entries[at] as SealEntry, entry))
    expect(faults.filter((fault) => fault !== undefined)).toEqual([])
  })

  test.each([
    ['forgets it', handover, { ...entries[0], at: after.at, chains: after.chains }],
    ['names another', handover, { ...after, handovers: [3] }],
    ['names one that it is not', before, { ...after, handovers: [4] }],
    ['hands over and forgets the one before', after, { ...entries[7], handovers: [7] }],
  ] as const)('no entry follows that %s', (_, previous, next) => {
    expect(sealFault(previous, next as SealEntry)).toBe('HANDOVERS_CHANGED')
  })

  const read = (entry: object) => readSealEntry(canonicalBytes(entry))

  test.each([
    [
      'too many places',
      { ...after, handovers: Array.from({ length: HANDOVERS_MAX + 1 }, (_, at) => at + 1) },
    ],
    ['no place', { ...after, handovers: [] }],
    ['the first place', { ...after, handovers: [0] }],
    ['places in another order', { ...after, handovers: [7, 4] }],
    ['places of version 2', { ...after, v: 2 }],
    ['a short proof', { ...handover, handover: { ...handover.handover, proof: 'AAAA' } }],
  ])('none has %s', (_, entry) => {
    expect(read(after)).toEqual(after)
    expect(read(entry)).toBeUndefined()
  })
})

const zeros = (length: number): string => toBase64(new Uint8Array(length))
