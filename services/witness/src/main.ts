// Starts a witness as a process of its own, best with other people than those who run the log.
import type { AddressInfo } from 'node:net'
import { createCosigner, formatVerifierKey, readVerifierKey } from '@baton/ledger'
import { schemeOf } from '@baton/http/server'
import { permanent, refusePlainListening } from '@baton/runtime'
import type { Logger, Service, Settings, Tls } from '@baton/runtime'
import { runProcess } from '@baton/runtime/process'
import { createWitnessServer } from './server.ts'
import { WITNESS_SETTINGS } from './settings.ts'
import { openWitness } from './witnessed-logs.ts'
import type { WitnessedLog } from './witnessed-logs.ts'

async function createService(
  settings: Settings<typeof WITNESS_SETTINGS>,
  { logger, tls }: { readonly logger: Logger; readonly tls: Tls },
): Promise<Service> {
  const { BATON_WITNESS_NAME: name, BATON_WITNESS_SIGNING_KEY: pkcs8 } = settings
  const cosigner = createCosigner({ name, pkcs8 })
  const logs = settings.BATON_WITNESS_LOGS.split(',').map(readLog)
  const witness = await openWitness({
    statePath: settings.BATON_WITNESS_STATE_FILE,
    isFirstStart: settings.BATON_WITNESS_FIRST_START,
    logs,
    cosigner,
    now: () => Math.floor(Date.now() / 1_000),
  })
  const { BATON_WITNESS_HOST: host, BATON_WITNESS_PORT: port } = settings
  refusePlainListening(tls, { host, setting: 'BATON_WITNESS_HOST' })
  const server = createWitnessServer(witness, { tls, clients: settings.BATON_TLS_CLIENTS, logger })
  return {
    name: 'witness',
    async start() {
      await new Promise<void>((resolve, reject) => {
        server.once('error', (cause) => reject(cannotListen(`${host}:${port}`, cause)))
        server.listen(port, host, resolve)
      })
      const url = `${schemeOf(server)}://${host}:${(server.address() as AddressInfo).port}`
      logger.info({ event: 'witness.listening', url, key: formatVerifierKey(cosigner.key) })
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeIdleConnections()
      }),
  }
}

/** A verifier key, and behind a space the origin where the key has another name. */
function readLog(text: string): WitnessedLog {
  const [vkey = '', ...origin] = text.trim().split(' ')
  const key = readVerifierKey(vkey)
  return { key, origin: origin.length === 0 ? key.name : origin.join(' ') }
}

const cannotListen = (where: string, cause: unknown) =>
  permanent('BATON_WITNESS_LISTEN_FAILED', `cannot listen on ${where}`, {
    cause,
    fix: 'Stop the process that has the port, or set BATON_WITNESS_PORT.',
  })

await runProcess('witness', {
  settings: WITNESS_SETTINGS,
  build: async ({ settings, ...parts }) => [await createService(settings, parts)],
})
