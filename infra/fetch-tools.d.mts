// Types of fetch-tools.mjs, which stays plain JavaScript because boot.mjs runs it on any Node from 18.

export interface PinnedTool {
  readonly name: string
  readonly version: string
  readonly integrity: string
}

export function toolFolder(folder: string, name: string): string
export function isFetched(folder: string, tool: PinnedTool): boolean
export function fetchTools(
  tools: readonly PinnedTool[],
  options: { readonly folder: string; readonly env: NodeJS.ProcessEnv },
): Promise<{ readonly status: number }>
