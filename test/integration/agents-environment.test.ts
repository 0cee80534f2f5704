// What a hosted agent's code finds in its environment: what the installation names for it, and no secret.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '@baton/embedded'
import { acquirePostgres, createSystem, spawnService } from '@baton/testkit'
import type { System } from '@baton/testkit'

const folder = mkdtempSync(join(tmpdir(), 'baton-environment-'))
const BATON_TEST_LEDGER = join(folder, 'found.json')
const BATON_SYNC_TOKEN_FILE = join(folder, 'sync-token')
const BATON_RECEIVER_PORT_FILE = join(folder, 'receiver-port')
let system: System
beforeAll(async () => {
  writeFileSync(BATON_SYNC_TOKEN_FILE, `${randomBytes(24).toString('hex')}\n`, { mode: 0o400 })
  const { adminUrl } = await acquirePostgres()
  writeFileSync(BATON_RECEIVER_PORT_FILE, `${await freePort()}\n`)
  system = await createSystem({
    purpose: 'agents environment',
    adminUrl,
    agents: './test/integration/environment-agents.ts',
    env: { BATON_TEST_LEDGER, MODEL_KEY: 'not for agents', BATON_PUSH_SECRET: 'of another agent' },
    envOf: { receiver: { BATON_SYNC_TOKEN_FILE, BATON_RECEIVER_PORT_FILE } },
  })
  await system.start('auditor')
})
afterAll(async () => {
  await system.stop()
  rmSync(folder, { recursive: true })
})

it('finds what is named for it and nothing of the receiver, nor where that stands', async () => {
  const receiver = await system.start('receiver')
  const found = readFileSync(BATON_TEST_LEDGER, 'utf8')
  const { environment, given } = JSON.parse(found) as Record<string, Record<string, string>>
  expect(given).toEqual({ BATON_TEST_LEDGER })
  const names = Object.keys(environment ?? {}).filter((name) => /^(?:BATON|OTEL|MODEL)_/.test(name))
  expect(names).toEqual(['BATON_TEST_LEDGER'])
  const secrets = Object.entries(system.env).filter(([name]) => /TOKEN|KEYS|_URL$/.test(name))
  expect(secrets.length).toBeGreaterThan(4)
  for (const [, secret] of secrets) expect(found).not.toContain(secret)
  // It takes direct calls, for which it had to read both files.
  expect(receiver.output()).toContain('"event":"receiver.listening"')
  expect(found).not.toContain(BATON_SYNC_TOKEN_FILE)
})

it.each(['BATON_SIGNING_KEYS', 'BATON_SYNC_TOKEN_FILE', 'BATON_DATABASE_URL'])(
  'gets no %s of the receiver, whoever names it',
  async (name) => {
    const env = { ...system.environmentOf('receiver'), BATON_AGENTS_SETTINGS: `X, ${name}` }
    await expect(spawnService({ main: 'services/receiver/src/main.ts', env })).rejects.toThrow(
      'BATON_AGENTS_SETTINGS_INVALID',
    )
  },
)
