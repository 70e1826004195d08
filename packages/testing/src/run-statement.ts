import pg from 'pg'

/** Runs one statement on a separate connection. */
export async function runStatement(server: string, statement: string): Promise<object[]> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows
  } finally {
    await client.end()
  }
}

const pools = new Map<string, pg.Pool>()

function poolOf(server: string): pg.Pool {
  // Without a timer, which a test could replace; idle connections let the process exit.
  const options = { max: 4, idleTimeoutMillis: 0, allowExitOnIdle: true }
  const pool = pools.get(server) ?? new pg.Pool({ connectionString: server, ...options })
  if (!pools.has(server)) pool.on('error', () => undefined)
  pools.set(server, pool)
  return pool
}

/** Runs one statement on a connection that stays open for the next: a new one costs half of a copy. */
export async function runOften(server: string, statement: string): Promise<void> {
  await poolOf(server).query(statement)
}

export function databaseAt(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.toString()
}

/** Removes the databases of `postgresTemplate` for a run, from a server that outlives it. */
export async function dropTemplates(server: string, run: string): Promise<void> {
  const ours = `remit_template_${run}_%`
  const found = await runStatement(
    server,
    `select datname from pg_database where datname like '${ours}'`,
  )
  for (const { datname } of found as { datname: string }[])
    await runStatement(server, `drop database ${datname}`)
}

/** Makes the database of a cluster, on every node, one cluster with Citus. */
export async function joinNodes(nodes: readonly string[]): Promise<void> {
  for (const url of nodes) await runStatement(url, 'create extension citus')
  const [coordinator = '', ...workers] = nodes
  const place = (url: string) => `'${new URL(url).hostname}', ${new URL(url).port}`
  await runStatement(coordinator, `select citus_set_coordinator_host(${place(coordinator)})`)
  for (const worker of workers)
    await runStatement(coordinator, `select citus_add_node(${place(worker)})`)
}
