// The auditor starts on nothing that was altered or could be lost, and notices it while it runs.
import { eventually } from '@baton/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAuditFixture, entryOf, problemOf } from './audit-fixture.ts'
import { opsUrl } from './audit-seals-fixture.ts'
import type { AuditFixture } from './audit-fixture.ts'

let fixture: AuditFixture
beforeAll(async () => {
  fixture = await createAuditFixture(1)
})
afterAll(() => fixture?.close())

const sql = (text: string) =>
  fixture.superuser.query({ text: text.replaceAll('<db>', fixture.databases.audit) })

describe('does not start, and says why', () => {
  test.each([
    [
      'alter table audit.seal disable trigger refuse_change',
      'trigger seal.refuse_change: found “switched off',
      'alter table audit.seal enable always trigger refuse_change',
    ],
    [
      'grant delete on audit.record to audit_reader',
      'rights of audit_reader on record: found “DELETE, SELECT”, made “SELECT”',
      'revoke delete on audit.record from audit_reader',
    ],
  ])('%s', async (change, sentence, mend) => {
    await sql(change)
    const started = fixture.startAuditor()
    await expect(started).rejects.toThrow('BATON_AUDIT_SCHEMA_ALTERED')
    await expect(started).rejects.toThrow(sentence)
    const allowed = await fixture.startAuditor({ BATON_ALLOW_UNSAFE_POSTGRES: '1' })
    expect(allowed.process.output()).toMatch(/"level":"error".*"event":"audit.definitions"/)
    await allowed.process.kill()
    await sql(mend)
  })

  test.each(['audit_sealer', 'audit_archiver', 'audit_eraser'])(
    'where %s does not wait for the disk',
    async (role) => {
      await sql(`alter role ${role} in database <db> set synchronous_commit = 'off'`)
      await expect(fixture.startAuditor()).rejects.toThrow(`synchronous_commit is off for ${role}`)
      await sql(`alter role ${role} in database <db> reset synchronous_commit`)
    },
  )

  test('where a crash would empty the keys of people', async () => {
    const kept = (how: string) =>
      fixture.vaultSuperuser.query({ text: `alter table vault.erasure_key set ${how}` })
    await kept('unlogged')
    await expect(fixture.startAuditor()).rejects.toThrow('vault.erasure_key is not logged')
    await kept('logged')
  })
})

test('appends are refused while a crash could take them, and go on afterwards', async () => {
  const auditor = await fixture.startAuditor()
  const ops = /"event":"ops.listening".*?"port":(\d+)/.exec(auditor.process.output())?.[1]
  const ready = async () => (await fetch(`http://127.0.0.1:${ops}/readyz`)).status
  const status = async () => (await auditor.post({ entries: [entryOf()] })).status
  expect([await ready(), await status()]).toEqual([200, 200])
  await sql('alter table audit.batch_sig set unlogged')
  const soon = (describe: string) => ({ deadlineMs: 20_000, describe })
  await eventually(async () => (await ready()) === 503, soon('the auditor is unready'))
  expect(await problemOf(await auditor.post({ entries: [entryOf()] }))).toMatchObject({
    status: 503,
    code: 'BATON_AUDIT_NOT_DURABLE',
    detail: expect.stringContaining('audit.batch_sig is not logged'),
  })
  const metrics = await (await fetch(`${opsUrl(auditor.process)}/metrics`)).text()
  expect(metrics).toMatch(/^baton_server_unsafe\{server="postgres"\} 1$/m)
  await sql('alter table audit.batch_sig set logged')
  await eventually(async () => (await status()) === 200, soon('appends go on'))
  expect(await ready()).toBe(200)
  await auditor.process.kill()
})
