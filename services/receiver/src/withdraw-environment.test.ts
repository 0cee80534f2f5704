// What is left in the environment of a receiver once its agents load.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { withdrawEnvironment } from './withdraw-environment.ts'

it('leaves what is named and what the system gives, and keeps the rest for the process itself', () => {
  const given = {
    PATH: '/bin',
    LC_ALL: 'C',
    NODE_EXTRA_CA_CERTS: '/ca.pem',
    BATON_SIGNING_KEYS: 'k1:active:x',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=x',
    HTTPS_PROXY: 'http://user:password@proxy',
    MODEL_KEY: 'm',
    MODEL_KEY_2: 'n',
  }
  const environment = { ...given }
  const { whole, own } = withdrawEnvironment(environment, ['MODEL_KEY', 'ABSENT'])
  expect(environment).toEqual({
    PATH: '/bin',
    LC_ALL: 'C',
    NODE_EXTRA_CA_CERTS: '/ca.pem',
    MODEL_KEY: 'm',
  })
  expect(own).toEqual({ MODEL_KEY: 'm' })
  expect(whole).toEqual(given)
})

it('gives agents what stands in a file that is named for them, and tells nobody where any stands', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-withdraw-'))
  const file = join(folder, 'model-key')
  writeFileSync(file, 'm\n', { mode: 0o600 })
  const environment = {
    PATH: '/bin',
    MODEL_KEY_FILE: file,
    BATON_SIGNING_KEYS_FILE: '/run/secrets/signing',
    BATON_DATABASE_URL_FILE: '/run/secrets/database',
  }
  const { own } = withdrawEnvironment(environment, ['MODEL_KEY'])
  expect(environment).toEqual({ PATH: '/bin', MODEL_KEY: 'm' })
  expect(own).toEqual({ MODEL_KEY: 'm' })
  rmSync(folder, { recursive: true })
})
