// The command line on databases that somebody else runs: everything is given by the environment.
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import { access, chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPool, readHeads } from '@baton/audit'
import { discardPostgres, newSecret, startPostgres } from '@baton/embedded'
import type { RunningPostgres } from '@baton/embedded'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openCommandLine } from './command-line.ts'
import type { CommandLine } from './command-line.ts'

const quiet = { info: () => undefined, warn: () => undefined }
const signingKey = generateKeyPairSync('ed25519').privateKey.export({
  format: 'der',
  type: 'pkcs8',
})
/** What a command needs that only reads. */
const READING = {
  BATON_APP_PASSWORD: newSecret(),
  BATON_AUDIT_READER_PASSWORD: newSecret(),
  BATON_VAULT_PASSWORD: newSecret(),
  BATON_AUDIT_WRAPPING_KEY: randomBytes(32).toString('base64'),
  BATON_AUDIT_LOOKUP_KEY: randomBytes(32).toString('base64'),
}

describe('given databases', () => {
  let folder = ''
  let postgres: RunningPostgres
  let operator: CommandLine
  const opened: CommandLine[] = []
  const open = async (environment: Record<string, string> = {}) => {
    const BATON_DATABASE_ADMIN_URL = postgres.superuserUrl
    const baton = await openCommandLine({ BATON_DATABASE_ADMIN_URL, ...READING, ...environment })
    opened.push(baton)
    return baton
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'baton-given-'))
    await chmod(folder, 0o755)
    postgres = await startPostgres({ dataDir: join(folder, 'pg'), logger: quiet })
    operator = await open({
      BATON_ENVIRONMENT: 'staging',
      BATON_AUDIT_WRITER_PASSWORD: newSecret(),
      BATON_AUDIT_SIGNING_KEY: signingKey.toString('base64'),
    })
  })
  afterAll(async () => {
    await Promise.all(opened.map((baton) => baton.discard()))
    await postgres.stop()
    await discardPostgres(join(folder, 'pg'))
    await rm(folder, { recursive: true, force: true })
  })

  it.each([
    ['trace', '7f3c'],
    ['trace', randomUUID()],
    ['verify'],
    ['verify', '7f3c'],
    ['tasks'],
    ['doctor'],
  ])('that nobody has migrated yet are named, with what to run: %s', async (...command) => {
    const { exitCode, stderr } = await operator.run(...command)
    expect(exitCode).toBe(1)
    expect(stderr).toContain('_DATABASE_REFUSED')
    expect(stderr).toContain('run `baton migrate`')
  })

  it('name the chains of a new log after the environment, and keep the names', async () => {
    const migrated = await operator.run('migrate')
    expect(migrated.exitCode).toBe(0)
    const origins = [0, 1, 2, 3].map((shard) => `baton/staging/1/s${shard}`)
    expect(await originsOn(postgres.superuserUrl)).toEqual(origins)
    const other = await open({ BATON_ENVIRONMENT: 'production' })
    expect((await other.run('migrate')).exitCode).toBe(0)
    expect(await originsOn(postgres.superuserUrl)).toEqual(origins)
    expect((await operator.run('migrate')).exitCode).toBe(0)
  })

  it('refuse an environment that cannot name a chain', async () => {
    const baton = await open({ BATON_ENVIRONMENT: 'Prod/EU' })
    const { exitCode, stderr } = await baton.run('migrate')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('BATON_ENVIRONMENT is "Prod/EU": expected lower-case letters')
  })

  it('are read without a secrets file, also where no key can sign', async () => {
    const reader = await open()
    const tasks = await reader.run('tasks', '--json')
    expect(tasks).toMatchObject({ exitCode: 0, stdout: '[]\n' })
    expect((await reader.run('dlq', 'ls', '--json')).stdout).toBe('[]\n')
    const shadow = await reader.run('safety', 'shadow', '--json')
    expect(shadow).toMatchObject({ exitCode: 0, stdout: '' })
    const unsealed = await reader.run('doctor')
    expect(unsealed.exitCode).toBe(1)
    expect(unsealed.stdout).toMatch(
      /✗ every record is sealed within a minute: nobody is known here/,
    )
    const waived = await (await open({ BATON_ALLOW_UNSEALED: '1' })).run('doctor')
    expect(waived.exitCode).toBe(0)
    expect(waived.stdout).toMatch(/– every record is sealed within a minute: waived/)
    expect(waived.stderr).not.toContain('Nothing is broken')
    expect((await reader.run('trace', '7f3c')).exitCode).toBe(5)
    const verify = await reader.run('verify')
    expect(verify.exitCode).toBe(0)
    expect(verify.stdout).toContain('the log is empty')
    expect(verify.stdout).not.toContain('0→0')
    await expect(access(join(reader.home, 'secrets'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('of which the one of the log is not there are named so', async () => {
    const admin = createPool({ url: postgres.superuserUrl, applicationName: 'test' })
    try {
      await admin.query({ text: 'alter database baton_audit rename to away' })
      const reader = await open()
      expect((await reader.run('tasks')).exitCode).toBe(0)
      for (const command of [['trace', randomUUID()], ['verify']]) {
        const { exitCode, stderr } = await reader.run(...command)
        expect(exitCode).toBe(1)
        expect(stderr).toMatch(
          /the audit database has not the schema .*BATON_SCHEMA_OUTDATED.*Run `baton migrate`/s,
        )
      }
    } finally {
      await admin.query({ text: 'alter database away rename to baton_audit' })
      await admin.end()
    }
  })

  it('are not written to without the keys that sign', async () => {
    const reader = await open()
    const sent = await reader.run('send', '--to', 'clause-extraction', '--no-wait')
    expect(sent.exitCode).toBe(2)
    expect(sent.stderr).toContain('BATON_SIGNING_KEYS is missing')
  })

  it('name every secret that is missing when some are given', async () => {
    const reader = await open({ BATON_VAULT_PASSWORD: '', BATON_AUDIT_LOOKUP_KEY: '' })
    const { exitCode, stderr } = await reader.run('verify')
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/BATON_VAULT_PASSWORD is missing[^]*BATON_AUDIT_LOOKUP_KEY is missing/)
  })
})

async function originsOn(adminUrl: string): Promise<readonly string[]> {
  const url = new URL(adminUrl)
  url.pathname = '/baton_audit'
  const pool = createPool({ url: url.href, applicationName: 'baton-test' })
  try {
    return (await readHeads(pool)).map(({ origin }) => origin).toSorted()
  } finally {
    await pool.end()
  }
}
