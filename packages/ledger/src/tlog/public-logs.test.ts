// What others' logs published verifies with this code: signed tree heads of Go's checksum database, and an entry of Sigstore's Rekor with its proof.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  GO_SUM_ENTRY,
  GO_SUM_HEADS,
  GO_SUM_KEY,
  REKOR_ENTRY,
  REKOR_HEAD,
  REKOR_KEY,
} from '../../fixtures/public-logs.ts'
import { fromBase64, fromHex, toHex } from '../bytes.ts'
import { readVerifierKey } from '../note/key.ts'
import { openNote, splitNote } from '../note/note.ts'
import { hashLeaf } from '../tree/hash.ts'
import { verifyInclusion } from '../tree/verify.ts'
import { parseCheckpoint } from './checkpoint.ts'

describe('sum.golang.org', () => {
  test.each(GO_SUM_HEADS)('signed the tree of $size entries', ({ size, note }) => {
    const opened = openNote(Buffer.from(note), [readVerifierKey(GO_SUM_KEY)])
    expect(opened).toMatchObject({
      ok: true,
      signatures: [{ name: 'sum.golang.org', keyId: '033de0ae', type: 1 }],
    })
    const checkpoint = opened.ok ? parseCheckpoint(opened.text) : undefined
    expect(checkpoint).toMatchObject({ origin: 'go.sum database tree', size, extensions: [] })
    const other = note.replace(String(size), String(size + 1))
    expect(openNote(Buffer.from(other), [readVerifierKey(GO_SUM_KEY)])).toMatchObject({
      ok: false,
      reason: 'INVALID_SIGNATURE',
    })
  })

  test('hashes its entries as this code does', () => {
    expect(toHex(hashLeaf(Buffer.from(GO_SUM_ENTRY.text)))).toBe(GO_SUM_ENTRY.leafHash)
  })
})

describe('rekor.sigstore.dev', () => {
  const spki = Buffer.from(REKOR_KEY, 'base64')
  const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' })

  /** Rekor signs with ECDSA, which no key of a policy has here: this code takes the note apart, and the platform checks the signature. */
  function openRekor(note: string) {
    const split = splitNote(Buffer.from(note))
    const [signature] = split?.signatures ?? []
    if (split === undefined || signature === undefined) throw new Error('this is no note')
    expect(signature).toMatchObject({
      name: 'rekor.sigstore.dev',
      keyId: createHash('sha256').update(spki).digest('hex').slice(0, 8),
    })
    expect(verify('sha256', Buffer.from(split.text), publicKey, signature.bytes)).toBe(true)
    return parseCheckpoint(split.text)
  }

  test.each([
    [11_956_977, REKOR_ENTRY.checkpoint],
    [21_428_036, REKOR_HEAD],
  ])('signed the tree of %i entries', (size, note) => {
    expect(openRekor(note)).toMatchObject({
      origin: 'rekor.sigstore.dev - 2605736670972794746',
      size,
      extensions: [expect.stringMatching(/^Timestamp: \d+$/) as string],
    })
    // To whoever knows only Ed25519, it was signed by nobody.
    expect(openNote(Buffer.from(note), [readVerifierKey(GO_SUM_KEY)])).toMatchObject({
      ok: false,
      reason: 'NO_KNOWN_SIGNATURE',
    })
  })

  test('has the entry that its proof says, at that place and no other', () => {
    const { size = 0, root = new Uint8Array() } = openRekor(REKOR_ENTRY.checkpoint) ?? {}
    expect(toHex(root)).toBe(REKOR_ENTRY.rootHash)
    const { index, body, hashes } = REKOR_ENTRY
    const proof = hashes.map((hash) => fromHex(hash) as Uint8Array)
    const claim = { index, size, leafHash: hashLeaf(fromBase64(body) as Uint8Array), proof, root }
    expect(verifyInclusion(claim)).toBe(true)
    for (const [at] of proof.entries()) {
      expect(verifyInclusion({ ...claim, proof: proof.toSpliced(at, 1) })).toBe(false)
      expect(verifyInclusion({ ...claim, index: index ^ (2 ** at) })).toBe(false)
    }
  })
})
