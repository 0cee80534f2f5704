// A batch signature fits one run of one chain and one key.
import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  batchKeyId,
  createBatchSigner,
  readBatchPublicKey,
  verifyBatch,
} from './batch-signature.ts'
import { signer } from '../fixtures/chain.ts'
import { LedgerError } from './ledger-error.ts'

const statement = { origin: 'baton/test/1/s0', firstSeq: 3, lastSeq: 5, lastHash: 'ab'.repeat(32) }

describe('batch signatures', () => {
  test('verify with the signer and fail for every other statement', () => {
    const signature = signer.sign(statement)
    expect(verifyBatch(statement, signature, signer.publicKey)).toBe(true)
    for (const change of [
      { origin: 'baton/test/1/s1' },
      { firstSeq: 2 },
      { lastSeq: 6 },
      { lastHash: 'ac'.repeat(32) },
    ]) {
      expect(verifyBatch({ ...statement, ...change }, signature, signer.publicKey)).toBe(false)
    }
    expect(verifyBatch(statement, Buffer.alloc(64), signer.publicKey)).toBe(false)
    expect(verifyBatch(statement, Buffer.alloc(0), signer.publicKey)).toBe(false)
  })

  test('keys are read from base64 and named after their bytes', () => {
    const spki = signer.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
    expect(batchKeyId(readBatchPublicKey(spki))).toBe(signer.keyId)
    expect(signer.keyId).toMatch(/^[0-9a-f]{16}$/)
  })

  test('anything but an Ed25519 key is refused', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const other = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
    expect(() => createBatchSigner(other)).toThrow(LedgerError)
    expect(() => createBatchSigner('no key')).toThrow(LedgerError)
    expect(() => readBatchPublicKey('')).toThrow(LedgerError)
  })
})
