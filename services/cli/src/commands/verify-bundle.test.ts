// A bundle is verified without a database, and only against a policy that was named.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { generateKeyPairSync } from 'node:crypto'
import { createNoteSigner, formatVerifierKey, writeBundle } from '@baton/ledger'
import type { Context } from '../context.ts'
import { createOutput } from '../terminal/output.ts'
import { verifyFile } from './verify-bundle.ts'

const folder = mkdtempSync(join(tmpdir(), 'baton-cli-verify-'))
afterAll(() => rmSync(folder, { recursive: true }))

function put(name: string, content: Uint8Array | string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const pkcs8 = generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' })
const signer = createNoteSigner({ name: 'test/seals', pkcs8: pkcs8.toString('base64') })
const policy = put('policy', `log ${formatVerifierKey(signer.key)}\nquorum none\n`)
const EMPTY = {
  records: [],
  erasures: [],
  chains: [],
  ends: null,
  handovers: [],
  seal: null,
  batches: [],
  receipts: [],
}
const bundle = writeBundle({ taskId: null, ...EMPTY, payloads: null, policy: null })

function open(json = false) {
  const texts = { out: '', words: '' }
  const streams = {
    stdout: { write: (data: string | Uint8Array) => (texts.out += String(data)) },
    stderr: { write: (text: string) => (texts.words += text) },
  }
  const context = { output: createOutput(streams, json) } as Context
  return { texts, context }
}

describe('verify FILE', () => {
  it('lists every check, and cannot say for what is not sealed', async () => {
    const { texts, context } = open()
    expect(await verifyFile(context, { file: put('a.tar', bundle), policy })).toBe(4)
    expect(texts.out).toContain('✓ container')
    expect(texts.out).toContain('– seal entry')
    expect(texts.out).toContain('Cannot say')
    for (const open of ['records of the task after the last one here', 'a different history']) {
      expect(texts.out).toMatch(new RegExp(`– not excluded +${open}`))
    }
  })

  it('ends with 3 where a byte was turned, and says which rule broke', async () => {
    const bad = Buffer.from(bundle)
    const at = bad.indexOf('"records":0')
    bad[at + 10] = 0x31
    const { texts, context } = open()
    expect(await verifyFile(context, { file: put('b.tar', bad), policy })).toBe(3)
    expect(texts.out).toContain('MANIFEST_DIGEST: manifest')
    expect(texts.out).toContain('NOT verified')
  })

  it('names the likely mistake: another file, a part of one, somebody else’s policy', async () => {
    const said = async (name: string, content: Uint8Array | string, given = policy) => {
      const { texts, context } = open()
      expect(await verifyFile(context, { file: put(name, content), policy: given })).toBe(3)
      return texts.out + texts.words
    }
    for (const content of ['', '# a text\n']) {
      const { texts, context } = open()
      expect(await verifyFile(context, { file: put('other.md', content), policy })).toBe(2)
      const text = texts.out + texts.words
      expect(text).toContain('This is no bundle of evidence')
      expect(text).not.toContain('NOT verified')
    }
    expect(await said('head.tar', bundle.subarray(0, 100))).toContain('in case it was cut off')
    const cut = await said('cut.tar', bundle.subarray(0, bundle.length - 700))
    expect(cut).toContain('in case it was cut off on its way')
  })

  it('prints the whole report as JSON', async () => {
    const { texts, context } = open(true)
    await verifyFile(context, { file: put('a.tar', bundle), policy })
    expect(JSON.parse(texts.out)).toMatchObject({ verdict: 'incomplete', records: 0 })
  })

  it('takes no policy out of the bundle, and refuses what is none', async () => {
    const file = put('a.tar', bundle)
    const { context } = open()
    const code = (given: { file: string; policy: string | undefined }) =>
      verifyFile(context, given).catch((error: { code: string }) => error.code)
    expect(await code({ file, policy: undefined })).toBe('BATON_USAGE')
    expect(await code({ file, policy: put('bad', 'quorum nobody\n') })).toBe('BATON_USAGE')
    expect(await code({ file, policy: join(folder, 'none') })).toBe('BATON_FILE_NOT_FOUND')
    expect(await code({ file: join(folder, 'none.tar'), policy })).toBe('BATON_FILE_NOT_FOUND')
    const missing = { file: join(folder, 'none.tar'), policy: undefined }
    expect(await code(missing)).toBe('BATON_FILE_NOT_FOUND')
    expect(await code({ file: folder, policy })).toBe('BATON_USAGE')
  })
})
