// Every kind of fault there is.
import type { FaultKind } from './fault.ts'
import { NETWORK_FAULTS } from './network-faults.ts'
import { OPERATION_FAULTS } from './operation-faults.ts'
import { POSTGRES_FAULTS } from './postgres-faults.ts'
import { PROCESS_FAULTS } from './process-faults.ts'
import { REDIS_FAULTS } from './redis-faults.ts'
import { TRAFFIC_FAULTS } from './traffic-faults.ts'

export const FAULT_KINDS: readonly FaultKind[] = [
  ...PROCESS_FAULTS,
  ...REDIS_FAULTS,
  ...POSTGRES_FAULTS,
  ...NETWORK_FAULTS,
  ...TRAFFIC_FAULTS,
  ...OPERATION_FAULTS,
]
