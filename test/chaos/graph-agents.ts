// The agents of random graphs: what each execution comes to is drawn from its handoff's id, in every process the same.
import { createHash } from 'node:crypto'
import { defineAgent, permanent } from '@baton/sdk'
import type { AgentContext, JoinHandoff, NextHandoff } from '@baton/sdk'

export const GRAPH_AGENTS = ['north', 'south', 'west', 'east'] as const
/** Beyond this many handoffs after each other nothing is handed on. */
const DEPTH_MAX = 4

/** Numbers from 0 up to 1 that are the same for the same name, whoever draws them. */
export function draws(name: string): () => number {
  let nth = 0
  return () => {
    const digest = createHash('sha256').update(`${name}/${nth++}`).digest()
    return digest.readUInt32BE(0) / 2 ** 32
  }
}

export const pick = <One>(draw: () => number, all: readonly One[]): One =>
  all[Math.floor(draw() * all.length)] as One

/** What joins branches: any number of them, under any policy, sometimes with a budget of its own. */
export function drawJoin(draw: () => number, branches: number, depth: number): JoinHandoff {
  return {
    to: pick(draw, GRAPH_AGENTS),
    taskDescription: String(depth + 1),
    waitFor: pick(draw, ['all', 'all', 'any', 1 + Math.floor(draw() * branches)] as const),
    onFailure: pick(draw, ['wait', 'skip', 'skip', 'fail'] as const),
    ...(draw() < 0.2 ? { budgetUSD: 0.001 } : {}),
  }
}

function drawNext(draw: () => number, depth: number, leftUSD: number): readonly NextHandoff[] {
  const width = pick(draw, [1, 1, 2, 3])
  return Array.from({ length: width }, () => ({
    to: pick(draw, GRAPH_AGENTS),
    taskDescription: String(depth + 1),
    // Now and then more than there is: then nothing is handed on.
    ...(draw() < 0.15 ? { budgetUSD: Number((leftUSD * draw() * 0.7).toFixed(6)) } : {}),
  }))
}

async function execute(context: AgentContext) {
  const { message, handoffId, state } = context
  const draw = draws(handoffId)
  const depth = Number(message.taskDescription)
  const costUSD = Number((message.costTracking.costBudgetRemainingUSD * draw() * 0.3).toFixed(6))
  if (draw() < 0.08) throw permanent('BATON_TEST', 'drawn to fail')
  const leftUSD = message.costTracking.costBudgetRemainingUSD - costUSD
  const goesOn = depth < DEPTH_MAX && leftUSD > 0.01 && draw() < 0.6
  const next = goesOn ? drawNext(draw, depth, leftUSD) : []
  const isJoined = next.length > 1 && draw() < 0.8
  return {
    subtask: { subtaskId: handoffId, description: 'a step', result: null },
    state,
    costUSD,
    tokens: { prompt: 1, completion: 1 },
    result: handoffId,
    next,
    ...(isJoined ? { join: drawJoin(draw, next.length, depth) } : {}),
  }
}

export const agents = GRAPH_AGENTS.map((type) =>
  defineAgent({ type, version: '1.0.0', requires: [], execute }),
)
