// Every service is told what it needs and no more: operational services hold no credential of the audit database.
import { parseApiKeys } from '@baton/gateway'
import { describe, expect, it } from 'vitest'
import type { Databases } from './databases.ts'
import { serviceSettings } from './service-settings.ts'

const secret = (name: string) => `secret-${name}`
const databases: Databases = {
  description: 'Postgres',
  secrets: {
    BATON_APP_PASSWORD: secret('app'),
    BATON_AUDIT_WRITER_PASSWORD: secret('writer'),
    BATON_AUDIT_READER_PASSWORD: secret('reader'),
    BATON_VAULT_PASSWORD: secret('vault'),
    BATON_SIGNING_KEYS: secret('signing'),
    BATON_AUDIT_APPEND_TOKEN: secret('append'),
    BATON_AUDIT_READ_TOKEN: secret('read'),
    BATON_AUDIT_SIGNING_KEY: secret('batch'),
    BATON_AUDIT_WRAPPING_KEY: secret('wrap'),
    BATON_AUDIT_LOOKUP_KEY: secret('lookup'),
    BATON_API_KEY: 'bk_development_secret-api',
  },
  urls: {
    app: 'app-url',
    auditWriter: 'writer-url',
    auditSealer: 'sealer-url',
    auditArchiver: 'archiver-url',
    auditEraser: 'eraser-url',
    auditReader: 'reader-url',
    vault: 'vault-url',
  },
  sealKeys: {
    sealerPassword: 'secret-sealer',
    sealing: 'secret-sealing',
    witnessing: 'secret-witness',
  },
  erasureKeys: { eraserPassword: 'secret-eraser', eraseToken: 'secret-erase' },
  archiveKeys: {
    archiverPassword: 'secret-archiver',
    archiveToken: 'secret-archive',
    holdToken: 'secret-hold',
  },
  cold: undefined,
  seals: { publicKey: 'public', anchorFile: '/anchor' },
  adminUrls: { operational: 'admin-url', audit: 'admin-url' },
  stop: async () => undefined,
}
const environment = {
  PATH: '/bin',
  BATON_DATABASE_ADMIN_URL: 'admin-url',
  BATON_VAULT_PASSWORD: 'typed',
  BATON_LOG_LEVEL: 'warn',
  BATON_LLM_BASE_URL: 'model-url',
  BATON_LLM_API_KEY: 'model-key',
  BATON_AUDIT_TRUSTED_KEYS: 'earlier',
  OPENAI_API_KEY: 'model',
}
const settings = (kind: 'redis' | 'in-process') =>
  serviceSettings({
    environment,
    home: '/home',
    databases,
    queue: {
      kind,
      description: '',
      redisUrl: kind === 'redis' ? 'redis-url' : undefined,
      stop: async () => undefined,
    },
    people: {
      operator: 'bk_operator_o',
      'reviewer-1': 'bk_reviewer-1_r',
      'reviewer-2': 'bk_reviewer-2_s',
    },
    ports: { gateway: 1, auditor: 2, witness: 3 },
    seals: { sealer: { BATON_SEAL_SIGNING_KEY: 'secret-sealing' }, witness: {}, auditor: {} },
  })

describe('serviceSettings', () => {
  it('runs a relay only with Redis, and clears a Redis that is not wanted', () => {
    expect([...settings('redis').keys()]).toContain('relay')
    expect([...settings('in-process').keys()]).toEqual([
      'gateway',
      'receiver',
      'auditor',
      'sealer',
      'archiver',
      'witness',
    ])
    expect(settings('in-process').get('receiver')).toMatchObject({ BATON_REDIS_URL: '' })
  })

  it.each(['gateway', 'relay', 'receiver'])(
    'gives the %s nothing that opens the audit databases',
    (name) => {
      const told = JSON.stringify(settings('redis').get(name))
      for (const hidden of [
        'writer',
        'reader',
        'vault',
        'batch',
        'wrap',
        'lookup',
        'sealing',
        'sealer',
        'archiver',
        'eraser',
        'hold',
        'admin-url',
        'typed',
      ]) {
        expect(told).not.toMatch(new RegExp(`secret-${hidden}|${hidden}-url|"${hidden}"`))
      }
    },
  )

  it('gives the gateway a digest of each key instead of the key, and tells people apart', () => {
    const { BATON_API_KEYS: entries = '' } = settings('redis').get('gateway') ?? {}
    const keys = parseApiKeys(entries)
    expect([...keys.values()].map(({ id, operator }) => [id, operator])).toEqual([
      ['development', 'operator'],
      ['operator', 'operator'],
      ['reviewer-1', 'reviewer-1'],
      ['reviewer-2', 'reviewer-2'],
    ])
    expect(keys.get('development')?.scopes.has('dead-letters:review')).toBe(false)
    expect(keys.get('reviewer-2')?.scopes.has('dead-letters:review')).toBe(true)
    expect(keys.get('reviewer-2')?.scopes.has('handoffs:send')).toBe(false)
    for (const secret of ['bk_', 'secret-api']) expect(entries).not.toContain(secret)
  })

  it('gives the language model to the receiver alone, and earlier keys to the auditor', () => {
    const told = settings('redis')
    expect(told.get('receiver')).toMatchObject({
      BATON_LLM_BASE_URL: 'model-url',
      BATON_LLM_API_KEY: 'model-key',
    })
    for (const name of ['gateway', 'relay', 'auditor'])
      expect(JSON.stringify(told.get(name))).not.toContain('model-')
    expect(told.get('auditor')).toMatchObject({ BATON_AUDIT_TRUSTED_KEYS: 'earlier' })
  })

  it('hands on what is not Baton’s own', () => {
    expect(settings('redis').get('receiver')).toMatchObject({
      PATH: '/bin',
      OPENAI_API_KEY: 'model',
      BATON_LOG_LEVEL: 'warn',
    })
  })
})
