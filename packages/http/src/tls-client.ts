// Connections to servers, over TLS where the URL says https: each new one shows what this process has read last, and believes whom it
// believes now.
import { buildConnector } from 'undici'
import type { Tls } from '@baton/runtime'

type Connector = ReturnType<typeof buildConnector>
type ConnectorOptions = Parameters<typeof buildConnector>[0]

/** How an undici pool connects. A name, or an address, that the certificate of the other side does not have is refused. */
export function connectOver(
  tls: Tls,
  whose: 'own' | 'others' = 'own',
  options: ConnectorOptions = {},
): Connector {
  let madeFor: Tls['material'] | undefined
  let connect: Connector
  return (target, callback) => {
    // A connector keeps sessions that resume without a certificate being shown again, so the old one goes with the old material.
    if (madeFor !== tls.material) {
      const secureContext = whose === 'own' ? tls.toOwn() : tls.toOthers()
      connect = buildConnector({ ...options, allowH2: false, secureContext })
      madeFor = tls.material
    }
    connect(target, callback)
  }
}
