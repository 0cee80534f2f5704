// Sends tasks the way an application does and remembers what it was told.
import { randomBytes, randomUUID } from 'node:crypto'
import { createSender, parseSigningKeys } from '@baton/sdk'
import type { AgentState, Sender } from '@baton/sdk'
import type { System } from '@baton/testkit'

export function createDriver(system: System): Sender {
  return createSender({
    sendsCritical: true,
    databaseUrl: system.databaseUrl,
    keyRing: parseSigningKeys(system.env['BATON_SIGNING_KEYS'] ?? ''),
  })
}

export function newTask(): AgentState {
  return {
    taskId: randomUUID(),
    handoffId: randomUUID(),
    timestamp: new Date().toISOString(),
    agent: { agentId: 'driver', agentVersion: '1.0.0', executionId: randomUUID() },
    taskDescription: 'Do the first step',
    completedSubtasks: [
      { subtaskId: 'start', description: 'started', completedAt: new Date().toISOString() },
    ],
    remainingSubtasks: [],
    currentState: { text: 'something to work on' },
    cost: {
      spentSoFarUSD: 0,
      budgetRemainingUSD: 1,
      ownCostUSD: 0.05,
      tokenSpent: { prompt: 10, completion: 5 },
    },
    traceparent: `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`,
  }
}

/** Sends `count` tasks to an agent; answers the acknowledged handoff ids. */
export async function sendTasks(
  sender: Sender,
  count: number,
  target = 'first',
): Promise<string[]> {
  const sent = await Promise.all(
    Array.from({ length: count }, () => sender.send(newTask(), target)),
  )
  return sent.map((one) => one.handoffId)
}
