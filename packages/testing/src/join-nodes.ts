import { runStatement } from './run-statement.ts'

/** Makes the database of a cluster, on every node, one cluster with Citus. */
export async function joinNodes(nodes: readonly string[]): Promise<void> {
  for (const url of nodes) await runStatement(url, 'create extension citus')
  const [coordinator = '', ...workers] = nodes
  const place = (url: string) => `'${new URL(url).hostname}', ${new URL(url).port}`
  await runStatement(coordinator, `select citus_set_coordinator_host(${place(coordinator)})`)
  for (const worker of workers)
    await runStatement(coordinator, `select citus_add_node(${place(worker)})`)
}
