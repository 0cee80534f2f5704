// What a hosted agent's code finds in its environment: what the installation names for it, and no secret.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { acquirePostgres, createSystem, spawnService } from '@baton/testkit'
import type { System } from '@baton/testkit'

const folder = mkdtempSync(join(tmpdir(), 'baton-environment-'))
const BATON_TEST_LEDGER = join(folder, 'found.json')
let system: System
beforeAll(async () => {
  const { adminUrl } = await acquirePostgres()
  system = await createSystem({
    purpose: 'agents environment',
    adminUrl,
    agents: './test/integration/environment-agents.ts',
    env: { BATON_TEST_LEDGER, MODEL_KEY: 'not for agents', BATON_PUSH_SECRET: 'of another agent' },
  })
  await system.start('auditor')
})
afterAll(async () => {
  await system.stop()
  rmSync(folder, { recursive: true })
})

it('finds what is named for it and nothing of the receiver', async () => {
  await system.start('receiver')
  const found = readFileSync(BATON_TEST_LEDGER, 'utf8')
  const { environment, given } = JSON.parse(found) as Record<string, Record<string, string>>
  expect(given).toEqual({ BATON_TEST_LEDGER })
  const names = Object.keys(environment ?? {}).filter((name) => /^(?:BATON|OTEL|MODEL)_/.test(name))
  expect(names).toEqual(['BATON_TEST_LEDGER'])
  const secrets = Object.entries(system.env).filter(([name]) => /TOKEN|KEYS|_URL$/.test(name))
  expect(secrets.length).toBeGreaterThan(4)
  for (const [, secret] of secrets) expect(found).not.toContain(secret)
})

it('gets no secret of the receiver, whoever names it', async () => {
  const env = {
    ...system.environmentOf('receiver'),
    BATON_AGENTS_SETTINGS: 'X, BATON_SIGNING_KEYS',
  }
  await expect(spawnService({ main: 'services/receiver/src/main.ts', env })).rejects.toThrow(
    'BATON_AGENTS_SETTINGS_INVALID',
  )
})
