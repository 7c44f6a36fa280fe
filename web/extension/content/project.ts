import type { ProjectResult } from "../../protocol/link";
import type { Project, Site } from "../sites/site";
import { Failure } from "./failure";
import { until, type Clock } from "./wait";

const limits = { list: 4000, form: 5000, made: 15_000 };

/**
 * Finds the project with this id, else the one with this name, in the site's own list; else makes one by the site's own
 * form. Nothing is asked of the site that a person could not click.
 */
export async function ensureProject(site: Site, name: string, id: string, clock: Clock, signal: AbortSignal): Promise<ProjectResult> {
  const known = await until(() => find(site, name, id), limits.list, clock, signal);
  signal.throwIfAborted();
  if (known !== null && known !== "new") return { project: known.id, url: known.url, created: false };
  const before = new Set(site.projects(document).map((p) => p.id));
  const opener = site.projectForm.open(document);
  if (opener === null) throw new Failure("no-project", "The page has no button for a new project.");
  opener.click();
  try {
    await fill(site, name, clock, signal);
    const made = await until(() => site.projects(document).find((p) => !before.has(p.id) && p.name === name) ?? here(site, before), limits.made, clock, signal);
    signal.throwIfAborted();
    if (made === null) throw new Failure("no-project", "The site did not make the project.");
    return { project: made.id, url: made.url, created: true };
  } catch (error) {
    site.projectForm.cancel(document)?.click();
    throw error;
  }
}

/** The project if it is listed; "new" once the list is there without it. */
function find(site: Site, name: string, id: string): Project | "new" | null {
  const all = site.projects(document);
  const hit = (id === "" ? undefined : all.find((p) => p.id === id)) ?? all.find((p) => p.name === name);
  if (hit !== undefined) return hit;
  return all.length > 0 ? "new" : null;
}

/** The project whose page this is, if it is a new one. */
function here(site: Site, before: Set<string>): Project | null {
  const { project } = site.place(location.href);
  return project !== "" && !before.has(project) ? { id: project, url: location.href } : null;
}

async function fill(site: Site, name: string, clock: Clock, signal: AbortSignal): Promise<void> {
  const form = site.projectForm;
  const field = await until(() => form.name(document), limits.form, clock, signal);
  signal.throwIfAborted();
  if (field === null) throw new Failure("no-project", "The form for a new project did not open.");
  field.value = name;
  field.dispatchEvent(new InputEvent("input", { bubbles: true, data: name, inputType: "insertText" }));
  form.ownMemory(document)?.click();
  const confirm = await until(() => enabled(form.confirm(document)), limits.form, clock, signal);
  signal.throwIfAborted();
  if (confirm === null) throw new Failure("no-project", "The form for a new project cannot be confirmed.");
  confirm.click();
}

function enabled(button: HTMLElement | null): HTMLElement | null {
  return button instanceof HTMLButtonElement && button.disabled ? null : button;
}
