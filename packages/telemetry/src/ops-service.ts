// Health and metrics for the life of a process, as one of its services.
import type { Logger, Service } from '@baton/runtime'
import { startOpsServer } from './ops-server.ts'
import type { OpsServerOptions } from './ops-server.ts'

interface OpsServiceOptions extends Pick<OpsServerOptions, 'metrics' | 'ready'> {
  readonly settings: { readonly BATON_OPS_HOST: string; readonly BATON_OPS_PORT: number }
  readonly logger: Logger
}

/** Serves what `startOpsServer` serves, and logs where: `ops.listening`. */
export function createOpsService(options: OpsServiceOptions): Service {
  const { settings, metrics, ready, logger } = options
  const { BATON_OPS_HOST: host, BATON_OPS_PORT: port } = settings
  let close = async (): Promise<void> => undefined
  return {
    name: 'ops',
    async start() {
      const server = await startOpsServer({ host, port, metrics, ready })
      close = () => server.close()
      logger.info({ event: 'ops.listening', host, port: server.port })
    },
    stop: () => close(),
  }
}
