// Every service is told what it needs and no more: operational services hold no credential of the audit database.
import { generateKeyPairSync } from 'node:crypto'
import { ARCHIVER_SETTINGS } from '@baton/archiver/settings'
import { AUDITOR_SETTINGS } from '@baton/auditor/settings'
import { parseApiKeys } from '@baton/gateway'
import { GATEWAY_SETTINGS } from '@baton/gateway/settings'
import { parsePeople } from '@baton/ledger'
import { RECEIVER_SETTINGS } from '@baton/receiver/settings'
import { RELAY_SETTINGS } from '@baton/relay/settings'
import type { SettingsSpec } from '@baton/runtime'
import { SEALER_SETTINGS } from '@baton/sealer/settings'
import { WITNESS_SETTINGS } from '@baton/witness/settings'
import { describe, expect, it } from 'vitest'
import { serviceSettings } from './service-settings.ts'
import type { Known } from './service-settings.ts'

const personal = () =>
  generateKeyPairSync('ed25519')
    .privateKey.export({ format: 'der', type: 'pkcs8' })
    .toString('base64')
const secret = (name: string) => `secret-${name}`
const signing = generateKeyPairSync('ed25519')
  .privateKey.export({ format: 'der', type: 'pkcs8' })
  .toString('base64')
const databases: Known['databases'] = {
  urls: {
    gateway: 'gateway-url',
    delivery: 'delivery-url',
    auditWriter: 'writer-url',
    auditSealer: 'sealer-url',
    auditArchiver: 'archiver-url',
    auditEraser: 'eraser-url',
    auditReader: 'reader-url',
    vault: 'vault-url',
  },
  keys: {
    development: {
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
    roles: {
      BATON_GATEWAY_PASSWORD: secret('gateway'),
      BATON_DELIVERY_PASSWORD: secret('delivery'),
    },
    seals: {
      sealerPassword: secret('sealer'),
      sealing: signing,
      witnessing: secret('witness'),
    },
    erasure: { eraserPassword: secret('eraser'), eraseToken: secret('erase') },
    archive: {
      archiverPassword: secret('archiver'),
      archiveToken: secret('archive'),
      holdToken: secret('hold'),
    },
    evidence: {
      evidenceToken: secret('evidence'),
      payloadToken: secret('payload'),
      exporting: secret('exporting'),
    },
    events: { secretsKey: 'event-secrets-key' },
    calls: { syncToken: 'calls' },
    monitoring: { metricsKey: 'bk_prometheus_p' },
    signing: { operator: personal(), 'reviewer-1': personal(), 'reviewer-2': personal() },
    people: {
      operator: 'bk_operator_o',
      'reviewer-1': 'bk_reviewer-1_r',
      'reviewer-2': 'bk_reviewer-2_s',
    },
  },
}
const environment = {
  PATH: '/bin',
  BATON_DATABASE_ADMIN_URL: 'admin-url',
  BATON_VAULT_PASSWORD: 'typed',
  BATON_LOG_LEVEL: 'warn',
  BATON_LLM_BASE_URL: 'model-url',
  BATON_LLM_API_KEY: 'model-key',
  BATON_AUDIT_TRUSTED_KEYS: 'earlier',
  BATON_AUDIT_TILES_TOKEN: 'tiles-token',
  OPENAI_API_KEY: 'model',
  BATON_APP_PASSWORD_FILE: '/run/secrets/app',
  BATON_OPS_PORT_FILE: '/etc/port',
  BATON_LLM_MODEL_FILE: '/etc/model',
}
const settings = (kind: 'redis' | 'in-process') =>
  serviceSettings({
    environment,
    home: '/home',
    databases,
    redisUrl: kind === 'redis' ? 'redis-url' : undefined,
    ports: {
      gateway: 1,
      auditor: 2,
      auditorOps: 8,
      witness: 3,
      relay: 4,
      receiver: 5,
      sealer: 6,
      archiver: 7,
      receiverCalls: 9,
    },
    log: { witnessName: 'witness', verifierKey: 'log', batchKeys: ['public'] },
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

  it('gives none a secret that it does not read, nor the place of one', () => {
    const readBy: Readonly<Record<string, SettingsSpec>> = {
      gateway: GATEWAY_SETTINGS,
      relay: RELAY_SETTINGS,
      receiver: RECEIVER_SETTINGS,
      auditor: AUDITOR_SETTINGS,
      sealer: SEALER_SETTINGS,
      archiver: ARCHIVER_SETTINGS,
      witness: WITNESS_SETTINGS,
    }
    const secrets = Object.values(readBy).flatMap((spec) =>
      Object.keys(spec).filter((name) => spec[name]?.confidential),
    )
    const superfluous = [...settings('redis')].flatMap(([service, told]) =>
      Object.keys(told)
        .filter((name) => secrets.includes(name) && !(name in (readBy[service] ?? {})))
        .map((name) => `${service}: ${name}`),
    )
    expect(superfluous).toEqual([])
    for (const told of settings('redis').values())
      expect(JSON.stringify(told)).not.toContain('/run/secrets')
  })

  it('hands on where a setting stands, unless an instance says it itself', () => {
    const receiver = settings('redis').get('receiver')
    expect(receiver).toMatchObject({ BATON_LLM_MODEL_FILE: '/etc/model', BATON_OPS_PORT: '5' })
    expect(receiver).not.toHaveProperty('BATON_OPS_PORT_FILE')
  })

  it.each(['gateway', 'relay', 'receiver'])(
    'gives the %s nothing that opens the audit databases',
    (name) => {
      const told = JSON.stringify(settings('redis').get(name))
      expect(told).not.toContain(signing)
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

  it('gives nobody what people sign with, and their public keys to those who check', () => {
    const told = settings('redis')
    for (const key of Object.values(databases.keys.signing))
      expect(JSON.stringify([...told.values()])).not.toContain(key)
    const checking = [...told].filter(([, env]) => env['BATON_PEOPLE'] !== undefined)
    expect(checking.map(([name]) => name)).toEqual(['gateway', 'receiver', 'auditor'])
    const people = parsePeople(told.get('auditor')?.['BATON_PEOPLE'] ?? '')
    expect([...people.values()].map(({ person }) => person)).toEqual([
      'operator',
      'reviewer-1',
      'reviewer-2',
    ])
  })

  it('gives the gateway a digest of each key instead of the key, and tells people apart', () => {
    const { BATON_API_KEYS: entries = '' } = settings('redis').get('gateway') ?? {}
    const keys = parseApiKeys(entries)
    expect([...keys.values()].map(({ id, operator }) => [id, operator])).toEqual([
      ['development', 'operator'],
      ['operator', 'operator'],
      ['reviewer-1', 'reviewer-1'],
      ['reviewer-2', 'reviewer-2'],
      ['prometheus', 'prometheus'],
    ])
    expect([...(keys.get('prometheus')?.scopes ?? [])]).toEqual(['metrics:read'])
    expect(keys.get('development')?.scopes.has('dead-letters:review')).toBe(false)
    expect(keys.get('reviewer-2')?.scopes.has('dead-letters:review')).toBe(true)
    expect(keys.get('reviewer-2')?.scopes.has('handoffs:send')).toBe(false)
    // Agents in any language take part with the keys that an instance makes.
    const claiming = [...keys.values()].filter(({ scopes }) => scopes.has('executions:claim'))
    expect(claiming.map(({ id }) => id)).toEqual(['development', 'operator'])
    for (const secret of ['bk_', 'secret-api']) expect(entries).not.toContain(secret)
  })

  it('names the cold store to everybody who reads records that left the database', () => {
    for (const name of ['auditor', 'sealer', 'archiver'])
      expect(settings('redis').get(name)).toMatchObject({ BATON_COLD_FOLDER: '/home/cold' })
  })

  it('gives the token for tiles to the auditor alone', () => {
    const holders = [...settings('redis')].filter(([, told]) =>
      JSON.stringify(told).includes('tiles-token'),
    )
    expect(holders.map(([name]) => name)).toEqual(['auditor'])
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
