// The health check of the image: asks the container's process whether it lives, at the port where its settings say that it listens.
// Commands have none and count as well, so that one check is right for every container.
import { readFileSync } from 'node:fs'
import { get as getPlain } from 'node:http'
import { get as getOverTls } from 'node:https'
import { PROCESSES, readContainerSettings, runningName } from './settings.mjs'

const ANSWER_MAX_MS = 3_000
const EVERY_ADDRESS = new Set(['', '0.0.0.0', '::'])

function addressOf(name) {
  const { env } = process
  const [host = '', port = '8422'] =
    name === 'witness'
      ? [env.BATON_WITNESS_HOST, env.BATON_WITNESS_PORT]
      : [env.BATON_OPS_HOST, env.BATON_OPS_PORT]
  return { host: EVERY_ADDRESS.has(host) ? '127.0.0.1' : host, port }
}

/** It asks itself, in its own network namespace: whose certificate answers is not the question, and its own is shown to who wants one. */
function certificates() {
  const { BATON_TLS_CERT_FILE: cert, BATON_TLS_KEY_FILE: key } = process.env
  if (!cert || !key) return undefined
  return { cert: readFileSync(cert), key: readFileSync(key), rejectUnauthorized: false }
}

function ask(name) {
  const tls = certificates()
  const get = tls === undefined ? getPlain : getOverTls
  const options = { ...addressOf(name), ...tls, path: '/healthz', timeout: ANSWER_MAX_MS }
  return new Promise((resolve, reject) => {
    const call = get(options, (response) => resolve(response.statusCode))
    call.once('timeout', () => call.destroy(new Error(`no answer in ${ANSWER_MAX_MS} ms`)))
    call.once('error', reject)
  })
}

const name = runningName()
if (PROCESSES.has(name)) {
  readContainerSettings(name)
  try {
    const status = await ask(name)
    process.stdout.write(`${name}: ${status}\n`)
    process.exit(status === 200 ? 0 : 1)
  } catch (error) {
    process.stdout.write(`${name}: ${error.message}\n`)
    process.exit(1)
  }
}
