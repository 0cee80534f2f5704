// What every template of an agent is told, and the page that goes with it.

export interface AgentTemplate {
  /** Of the agent type, the package and the folder. */
  readonly name: string
  /** Prints how to join Baton, from any folder. */
  readonly envCommand: string
  /** What shows a task by its id. */
  readonly traceCommand: string
}

/** Texts by their path in the folder. */
export type TemplateFiles = Readonly<Record<string, string>>

interface Steps {
  readonly needs: string
  readonly agent: string
  readonly send: string
  readonly files: string
}

export const readmeOf = (
  { name, envCommand, traceCommand }: AgentTemplate,
  { needs, agent, send, files }: Steps,
): string => `# ${name}

An agent for Baton: it counts words, until you write what yours does. ${needs}

While Baton runs (\`npm run up\` in its own folder, left running), start the agent:

\`\`\`sh
eval "$(${envCommand})"
${agent}
\`\`\`

In a second terminal, in this folder, hand it work. It prints what the agent answered:

\`\`\`sh
eval "$(${envCommand})"
${send}
\`\`\`

The first line of each tells this shell where Baton is, and the files with the keys for it. What was decided about the task, and what it cost, stands in the audit log:

\`\`\`sh
${traceCommand}
\`\`\`

## What is here

${files}

A result, its cost and what is handed on commit at once. The same work may come again after a crash: where it has an effect elsewhere, send the idempotency key along.
`
