// What `baton init` made becomes Secrets that no two processes share.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { kubernetesObjects } from './secrets.ts'

interface Secret {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly data: Readonly<Record<string, string>>
}

const NAMES = { namespace: 'work', name: 'baton' }
let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-secrets-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

function make(path: string, text: string): void {
  mkdirSync(join(folder, path, '..'), { recursive: true })
  writeFileSync(join(folder, path), text)
}

const secrets = (): readonly Secret[] =>
  kubernetesObjects(folder, NAMES).filter((one): one is Secret => (one as Secret).kind === 'Secret')

describe('secrets for Kubernetes', () => {
  it('are one for each process, with all of its files and of no other', () => {
    make('gateway/settings.env', 'BATON_SIGNING_KEYS=a\n')
    make('sealer/settings.env', 'BATON_SEAL_SIGNING_KEY=b\n')
    make('sealer/policy', 'quorum none\n')
    make('people/ann.key', 'hers alone')
    make('admin/settings.env', 'BATON_DATABASE_ADMIN_URL=postgres://x\n')
    const found = secrets().map(({ metadata, data }) => [
      `${metadata.namespace}/${metadata.name}`,
      Object.fromEntries(
        Object.entries(data).map(([name, text]) => [name, Buffer.from(text, 'base64').toString()]),
      ),
    ])
    expect(found).toEqual([
      ['work/baton-gateway', { 'settings.env': 'BATON_SIGNING_KEYS=a\n' }],
      [
        'work/baton-sealer',
        { 'settings.env': 'BATON_SEAL_SIGNING_KEY=b\n', policy: 'quorum none\n' },
      ],
      ['work/baton-migrate', { 'settings.env': 'BATON_DATABASE_ADMIN_URL=postgres://x\n' }],
    ])
  })

  it('are those of the certificates too, without the key of the authority', () => {
    make('gateway/settings.env', 'A=1\n')
    for (const file of ['ca.crt', 'gateway.crt', 'gateway.key', 'authority/ca.key'])
      make(`tls/${file}`, file)
    const [, tls] = secrets()
    expect(tls?.metadata.name).toBe('baton-gateway-tls')
    expect(Object.keys(tls?.data ?? {})).toEqual(['tls.crt', 'tls.key', 'ca.crt'])
  })

  it('stand in a namespace that takes restricted pods alone', () => {
    make('gateway/settings.env', 'A=1\n')
    expect(kubernetesObjects(folder, NAMES)[0]).toMatchObject({
      kind: 'Namespace',
      metadata: { name: 'work', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    })
  })

  it('are not made of a folder without any', () => {
    expect(() => kubernetesObjects(folder, NAMES)).toThrow('name the folder of baton init')
  })
})
