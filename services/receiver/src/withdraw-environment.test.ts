// What is left in the environment of a receiver once its agents load.
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
