import type { Project, ProjectForm } from "../site";
import { origin, place } from "./address";

const newProject = /^\s*new project\s*$/i;

export function projects(doc: Document): (Project & { name: string })[] {
  const found: (Project & { name: string })[] = [];
  for (const link of doc.querySelectorAll<HTMLAnchorElement>("nav a[href*='/g/g-p-']")) {
    const url = new URL(link.getAttribute("href") ?? "", origin);
    if (!/\/project\/?$/.test(url.pathname)) continue;
    const { project } = place(url.href);
    if (project !== "" && !found.some((p) => p.id === project)) found.push({ id: project, url: url.href, name: (link.textContent ?? "").trim() });
  }
  return found;
}

function dialog(doc: Document): HTMLElement | null {
  const test = doc.querySelector<HTMLElement>("[data-testid='modal-new-project']");
  if (test !== null) return test;
  for (const d of doc.querySelectorAll<HTMLElement>("[role='dialog'][data-state='open']")) {
    if (d.querySelector("input[name='projectName'], input#project-name") !== null) return d;
  }
  return null;
}

export const projectForm: ProjectForm = {
  open(doc) {
    const test = doc.querySelector<HTMLElement>("[data-testid='new-project-button']");
    if (test !== null) return test;
    const buttons = doc.querySelectorAll<HTMLElement>("nav button, nav [role='button']");
    return [...buttons].find((b) => newProject.test(b.textContent ?? "")) ?? null;
  },
  name: (doc) => dialog(doc)?.querySelector<HTMLInputElement>("input[name='projectName'], input#project-name, input[type='text'], input:not([type])") ?? null,
  ownMemory(doc) {
    const within = dialog(doc);
    const marked = within?.querySelector<HTMLElement>("[role='radio'][data-memory='project-only'], input[type='radio'][value='project-only']");
    if (marked) return marked;
    const radios = within?.querySelectorAll<HTMLElement>("[role='radio'], [role='menuitemradio']") ?? [];
    return [...radios].find((r) => /project[- ]only/i.test(r.textContent ?? "")) ?? null;
  },
  confirm(doc) {
    const within = dialog(doc);
    const test = within?.querySelector<HTMLElement>("[data-testid='create-project-button']");
    if (test) return test;
    const buttons = within?.querySelectorAll<HTMLElement>("button") ?? [];
    return [...buttons].find((b) => /^\s*create( project)?\s*$/i.test(b.textContent ?? "")) ?? null;
  },
  cancel(doc) {
    const buttons = dialog(doc)?.querySelectorAll<HTMLElement>("button") ?? [];
    return [...buttons].find((b) => /^\s*(cancel|close)\s*$/i.test(b.textContent ?? b.getAttribute("aria-label") ?? "")) ?? null;
  },
};
