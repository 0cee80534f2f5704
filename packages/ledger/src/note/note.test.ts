// Keys and notes: the vectors of golang.org/x/mod/sumdb/note (BSD-3-Clause, The Go Authors) and C2SP's.
import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { toBase64 } from '../bytes.ts'
import { LedgerError } from '../ledger-error.ts'
import { formatVerifierKey, readVerifierKey, SIGNATURE_TYPES, verifierKey } from './key.ts'
import { formatNote, openNote, splitNote } from './note.ts'
import { createCosigner, createNoteSigner, signNote } from './signer.ts'

const PETER_KEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
const ENOCH_KEY = 'EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop'
const PETER_SEED = 'AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz'
const TEXT =
  "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
const PETER_SIGNATURE =
  '\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n'
const ENOCH_SIGNATURE =
  '\u2014 EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n'

const peter = readVerifierKey(PETER_KEY)
const enoch = readVerifierKey(ENOCH_KEY)
const open = (note: string, keys = [peter]) => openNote(Buffer.from(note, 'utf8'), keys)

const pkcs8Of = (seed: Uint8Array): string =>
  Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]).toString('base64')
const anyKey = (): string =>
  generateKeyPairSync('ed25519')
    .privateKey.export({ format: 'der', type: 'pkcs8' })
    .toString('base64')

describe('verifier keys', () => {
  test('read and write the published key', () => {
    expect(peter).toMatchObject({ name: 'PeterNeumann', keyId: 'c74f20a3', type: 1 })
    expect(formatVerifierKey(peter)).toBe(PETER_KEY)
  })

  test('no part of a key and no key with one character raised is a key', () => {
    const refused = (text: string) => expect(() => readVerifierKey(text)).toThrow(LedgerError)
    for (let from = 0; from <= PETER_KEY.length; from += 1) {
      for (let to = from + 1; to <= PETER_KEY.length; to += 1) {
        if (from !== 0 || to !== PETER_KEY.length) refused(PETER_KEY.slice(from, to))
      }
    }
    for (let at = 0; at < PETER_KEY.length; at += 1) {
      const raised = String.fromCharCode(PETER_KEY.charCodeAt(at) + 1)
      refused(PETER_KEY.slice(0, at) + raised + PETER_KEY.slice(at + 1))
    }
  })

  test.each([
    'PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==',
    'PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
    'Peter Neumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
    'PeterNeumann+C74F20A3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  ])('%s is refused', (text) => expect(() => readVerifierKey(text)).toThrow(LedgerError))

  test('T29 the same bytes under another name or type are another key', () => {
    const other = verifierKey('PeterNeumann', SIGNATURE_TYPES.cosignature, peter.publicKey)
    expect(other.keyId).not.toBe(peter.keyId)
    expect(verifierKey('Peter', SIGNATURE_TYPES.ed25519, peter.publicKey).keyId).not.toBe(
      peter.keyId,
    )
  })
})

describe('signing', () => {
  const seed = Buffer.from(PETER_SEED, 'base64').subarray(1)

  test('gives the published note, byte for byte', () => {
    const signer = createNoteSigner({ name: 'PeterNeumann', pkcs8: pkcs8Of(seed) })
    expect(formatVerifierKey(signer.key)).toBe(PETER_KEY)
    expect(signNote(TEXT, [signer])).toBe(`${TEXT}\n${PETER_SIGNATURE}`)
  })

  test('refuses a text that no note can hold, and keys that are not Ed25519', () => {
    const signer = createNoteSigner({ name: 'a', pkcs8: pkcs8Of(seed) })
    for (const text of ['abc', '', 'tab\t\n', '\ud800\n']) {
      expect(() => signNote(text, [signer])).toThrow(LedgerError)
    }
    expect(() => signNote(TEXT, [])).toThrow(LedgerError)
    for (const name of ['', 'a b', 'a+b', 'a\u00a0b']) {
      expect(() => createNoteSigner({ name, pkcs8: pkcs8Of(seed) })).toThrow(LedgerError)
    }
    expect(() => createNoteSigner({ name: 'a', pkcs8: 'AAAA' })).toThrow(LedgerError)
  })
})

describe('opening', () => {
  const both = `${TEXT}\n${PETER_SIGNATURE}${ENOCH_SIGNATURE}`
  const names = (note: string, keys = [peter]) => {
    const opened = open(note, keys)
    return opened.ok
      ? [opened.signatures.map(({ name }) => name), opened.unknown.map(({ name }) => name)]
      : opened.reason
  }

  test('separates known signers from unknown ones', () => {
    expect(names(both)).toEqual([['PeterNeumann'], ['EnochRoot']])
    expect(names(both, [peter, enoch])).toEqual([['PeterNeumann', 'EnochRoot'], []])
    expect(names(both, [])).toBe('NO_KNOWN_SIGNATURE')
    expect(open(both)).toMatchObject({ text: TEXT })
  })

  test('rejects a key that is known twice, but only when it signed', () => {
    expect(names(`${TEXT}\n${ENOCH_SIGNATURE}`, [enoch, peter, enoch])).toBe('AMBIGUOUS_KEY')
    expect(names(`${TEXT}\n${PETER_SIGNATURE}`, [enoch, peter, enoch])).toEqual([
      ['PeterNeumann'],
      [],
    ])
  })

  test('rejects the whole note when a known key fails, whoever else signed', () => {
    const wrong = `${PETER_SIGNATURE.slice(0, 60)}ABCD${PETER_SIGNATURE.slice(60)}`
    expect(names(`${TEXT}\n${wrong}`)).toBe('INVALID_SIGNATURE')
    expect(names(`${TEXT}\n${wrong}${ENOCH_SIGNATURE}`, [peter, enoch])).toBe('INVALID_SIGNATURE')
    expect(names(both.replace('answer', 'Answer'))).toBe('INVALID_SIGNATURE')
  })

  test('counts repeated lines once', () => {
    const strange = `${ENOCH_SIGNATURE.slice(0, 60)}ABCD${ENOCH_SIGNATURE.slice(60)}`
    const note = `${TEXT}\n${PETER_SIGNATURE.repeat(2)}${ENOCH_SIGNATURE.repeat(2)}${strange}`
    expect(names(note)).toEqual([['PeterNeumann'], ['EnochRoot', 'EnochRoot']])
  })

  test('takes 100 signatures and refuses 101', () => {
    expect(names(`${TEXT}\n${PETER_SIGNATURE.repeat(100)}`)).toEqual([['PeterNeumann'], []])
    for (const keys of [[peter], []]) {
      expect(names(`${TEXT}\n${PETER_SIGNATURE.repeat(101)}`, keys)).toBe('MALFORMED')
    }
  })

  test.each([
    TEXT,
    `${TEXT}\n`,
    `${TEXT}\n${PETER_SIGNATURE.slice(0, -1)}`,
    `\u0001${TEXT}\n${PETER_SIGNATURE}`,
    `${TEXT}\n${PETER_SIGNATURE.replace('PeterNeumann', 'Bad Name')}`,
    `${TEXT}\n${PETER_SIGNATURE}Unexpected line.\n`,
    `${TEXT}\n${PETER_SIGNATURE.replace('nAM=', 'nAN=')}`,
    `${TEXT}\n${PETER_SIGNATURE.replaceAll('\n', '\r\n')}`,
  ])('malformed: %j', (note) => expect(names(note)).toBe('MALFORMED'))

  test('bytes that are not UTF-8 are no note', () => {
    const note = Buffer.concat([Buffer.from([0xff]), Buffer.from(both)])
    expect(openNote(note, [peter])).toMatchObject({ ok: false, reason: 'MALFORMED' })
  })

  test('T29 a signature under another name or id is unknown, and one of another type fails', () => {
    expect(names(both.replace('PeterNeumann', 'CarmenSandiego'))).toBe('NO_KNOWN_SIGNATURE')
    expect(names(both.replace('x08g', 'xxxx'))).toBe('NO_KNOWN_SIGNATURE')
    const pkcs8 = anyKey()
    const [log, witness] = [
      createNoteSigner({ name: 'n', pkcs8 }),
      createCosigner({ name: 'n', pkcs8 }),
    ]
    const plain = { ...log.sign(TEXT), keyId: witness.key.keyId }
    const disguised = formatNote({ text: TEXT, signatures: [plain] })
    expect(names(disguised, [witness.key])).toBe('INVALID_SIGNATURE')
  })
})

describe('cosignatures', () => {
  const witness = createCosigner({ name: 'witness.example/w1', pkcs8: anyKey() })

  test('carry the time, which is signed with the text', () => {
    const signature = witness.cosign(TEXT, 1_679_315_147)
    const note = formatNote({ text: TEXT, signatures: [signature] })
    expect(open(note, [witness.key])).toMatchObject({
      ok: true,
      signatures: [{ name: 'witness.example/w1', type: 4, timestamp: 1_679_315_147 }],
    })
    const later = Uint8Array.from(signature.bytes)
    later[7] = (later[7] as number) + 1
    const moved = formatNote({ text: TEXT, signatures: [{ ...signature, bytes: later }] })
    expect(open(moved, [witness.key])).toMatchObject({ ok: false, reason: 'INVALID_SIGNATURE' })
  })

  test('of C2SP tlog-cosignature reads as log and witness', () => {
    const text =
      'example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n'
    const lines =
      '\u2014 example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n' +
      '\u2014 witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n'
    const split = splitNote(Buffer.from(`${text}\n${lines}`))
    expect(split?.signatures.map(({ bytes }) => bytes.length)).toEqual([64, 72])
    expect(formatNote(split as NonNullable<typeof split>)).toBe(`${text}\n${lines}`)
    const time = split?.signatures[1]?.bytes.subarray(0, 8) as Uint8Array
    expect(toBase64(time)).toBe(
      Buffer.from('000000006418 50cb'.replace(' ', ''), 'hex').toString('base64'),
    )
  })
})
