// What the doctor says to people: words that somebody waits for while they change a key, and nothing that would do harm.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeInstance } from '@baton/embedded'
import { expect, it } from 'vitest'
import type { OpenedDatabases } from '../instance/databases.ts'
import { createOutput } from '../terminal/output.ts'
import { diagnoseVaultKeys } from './diagnose-vault-keys.ts'
import { describeRestarts, whyNoneRuns, withoutInstance } from './diagnose-setup.ts'
import { passed } from './diagnosis.ts'
import type { Diagnosis } from './diagnosis.ts'
import { printDiagnoses } from './doctor.ts'

function printed(diagnoses: readonly Diagnosis[]): string {
  let out = ''
  const stdout = { write: (text: string | Uint8Array) => (out += String(text)) }
  printDiagnoses(createOutput({ stdout, stderr: { write: () => undefined } }, false), diagnoses)
  return out
}

const vaultOf = (earlier: readonly { keyId: string; rows: number; unnamed: number }[]) => {
  const ring = { current: 'new', earlier, missing: [] }
  const keyProgress = async () => ({ wrapping: ring, lookup: { ...ring, earlier: [] } })
  return diagnoseVaultKeys({ audit: { keyProgress } } as unknown as OpenedDatabases)
}

it('says that an earlier key can be taken out, and how much is still under it', async () => {
  expect(printed(await vaultOf([{ keyId: 'old', rows: 0, unnamed: 0 }]))).toContain(
    'current new; nothing under old, which can be taken out',
  )
  expect(printed(await vaultOf([{ keyId: 'old', rows: 7, unnamed: 0 }]))).toContain(
    '7 rows still under old',
  )
})

it('says no more than that it holds where nothing is changed', async () => {
  const once = printed([...(await vaultOf([])), passed('keys', 'all known', 'k1')])
  expect(once.trimEnd().split('\n')).toHaveLength(2)
})

it('does not ask to start an instance beside services that run elsewhere', () => {
  expect(whyNoneRuns({ BATON_DATABASE_ADMIN_URL: undefined })).toContain('npm run baton -- up')
  expect(whyNoneRuns({ BATON_DATABASE_ADMIN_URL: 'postgres://db.example' })).not.toContain(' up')
})

it('counts what was started again, and names what was left', () => {
  const seen = { name: 'relay', pid: 1, restarts: 0, lastEnd: undefined, isLeft: false }
  expect(describeRestarts(seen)).toEqual([])
  expect(describeRestarts({ ...seen, restarts: 2, lastEnd: 'SIGKILL' })).toEqual([
    'relay: started again 2 times, last after SIGKILL',
  ])
  expect(describeRestarts({ ...seen, restarts: 4, lastEnd: 'exit code 1', isLeft: true })).toEqual([
    'relay: kept ending (exit code 1) and was left after 4 restarts',
  ])
})

it('names the services that a killed command left behind, which go on', async () => {
  const home = await mkdtemp(join(tmpdir(), 'doctor-'))
  const path = join(home, 'instance.json')
  await writeInstance(
    home,
    [{ name: 'gateway', pid: process.pid, restarts: 0, lastEnd: undefined, isLeft: false }],
    {},
  )
  const record = JSON.parse(await readFile(path, 'utf8'))
  record.owner.startedAt = 'another process'
  await writeFile(path, JSON.stringify(record))
  expect(await withoutInstance(home, { BATON_DATABASE_ADMIN_URL: undefined })).toMatchObject({
    mark: 'unknown',
    ids: [`gateway ${process.pid}`],
  })
  await rm(home, { recursive: true })
})
