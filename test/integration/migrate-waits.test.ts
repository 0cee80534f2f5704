// A migration waits for a database that does not answer yet, says so, and goes on when it does.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  acquirePostgres,
  describeWith,
  openLink,
  spawnService,
  startOwnPostgres,
} from '@baton/testkit'
import type { Link, OwnPostgres } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'

describeWith('migrate', await acquirePostgres(), () => {
  let postgres: OwnPostgres
  let link: Link
  let home: string
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'baton-migrate-'))
    postgres = await startOwnPostgres()
    link = await openLink(postgres.superuserUrl)
  }, 60_000)
  afterAll(async () => {
    await link.close()
    await postgres.stop()
    rmSync(home, { recursive: true })
  }, 60_000)

  const migrate = (adminUrl: string, ready: RegExp | false) =>
    spawnService({
      main: 'services/cli/src/main.ts',
      args: ['--home', home, 'migrate'],
      env: { BATON_DATABASE_ADMIN_URL: adminUrl },
      ready,
    })

  it('waits, with words, for a server that does not answer yet', async () => {
    link.cut()
    const command = await migrate(link.url, /Waits for Postgres at .* for at most 30 s\./)
    link.heal()
    const { code } = await command.exited()
    expect(command.output()).toContain('audit/0001')
    expect(code).toBe(0)
  }, 60_000)

  it('waits for none that refuses', async () => {
    const wrong = new URL(postgres.superuserUrl)
    wrong.password = 'wrong'
    const command = await migrate(wrong.href, false)
    expect((await command.exited()).code).toBe(1)
    expect(command.output()).not.toContain('Waits for')
    expect(command.output()).toMatch(/password authentication failed/)
  }, 60_000)
})
